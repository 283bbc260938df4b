//! A series of solutions in time: a `.pvd` file that names a `.vtu` file for every time.
//!
//! # References
//! ParaView's documentation, "ParaView Data (PVD) file format".

use std::io::{self, Write};
use std::path::Path;

use crate::base::atomic;
use crate::base::error::Result;

/// Writes a `.pvd` file with the times and the names of files beside it. Names that stand in XML as they are are the
/// caller's to choose.
pub fn write_series(path: impl AsRef<Path>, files: &[(f64, String)]) -> Result<()> {
    atomic::write(path, |out| series(out, files))
}

fn series(out: &mut impl Write, files: &[(f64, String)]) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(out, r#"<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">"#)?;
    writeln!(out, "<Collection>")?;
    for (t, file) in files {
        writeln!(out, r#"<DataSet timestep="{t}" part="0" file="{file}"/>"#)?;
    }
    writeln!(out, "</Collection>")?;
    writeln!(out, "</VTKFile>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_has_its_file() {
        let mut out = Vec::new();
        series(&mut out, &[(0.5, "solution-1.vtu".into()), (1.0, "solution-2.vtu".into())]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains(r#"<DataSet timestep="0.5" part="0" file="solution-1.vtu"/>"#));
        assert_eq!(text.matches("<DataSet").count(), 2);
    }
}
