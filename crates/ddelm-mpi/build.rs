//! Compiles the C side of the MUMPS binding.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/mumps.c");
    cc::Build::new().file("src/mumps.c").warnings(true).compile("ddelm_mumps");
    println!("cargo:rustc-link-lib=dmumps");
    println!("cargo:rustc-link-lib=mumps_common");
}
