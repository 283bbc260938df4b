//! Writes the JavaScript side of a WebAssembly module: `ddelm-web-bindgen MODULE.wasm FOLDER NAME`.
//!
//! It is wasm-bindgen's own command line in ten lines, of the very version that the module was compiled with: that one is
//! locked with the other dependencies, and need not be installed.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let [module, folder, name] = match <[String; 3]>::try_from(std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(arguments) => arguments,
        Err(_) => {
            eprintln!("usage: ddelm-web-bindgen MODULE.wasm FOLDER NAME");
            return ExitCode::from(2);
        }
    };
    let written = Bindgen::new()
        .input_path(module)
        .out_name(&name)
        .typescript(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .web(true)
        .and_then(|bindgen| bindgen.generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::FAILURE
        }
    }
}
