//! Several machines: MPI between them, MUMPS for the direct interface solve.
//!
//! A crate of its own: the library is the same with it and without, and is not compiled again for it.

mod distributed;
mod machine;
mod mumps;

pub use machine::Mpi;
