//! Nothing but dependencies. Cargo compiles a crate once for every set of features that it is asked for, and everything
//! that depends on it as often: without this package the tests of the library, of the Python package and of MPI would each
//! compile faer anew. `test.sh` selects it along with them; nothing that is installed depends on it.
