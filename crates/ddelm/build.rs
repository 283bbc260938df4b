//! Compiles the C side of the MUMPS binding when the feature `mpi` asks for it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "mpi")]
    mumps();
}

#[cfg(feature = "mpi")]
fn mumps() {
    println!("cargo:rerun-if-changed=src/exchange/mumps.c");
    cc::Build::new().file("src/exchange/mumps.c").warnings(true).compile("ddelm_mumps");
    println!("cargo:rustc-link-lib=dmumps");
    println!("cargo:rustc-link-lib=mumps_common");
}
