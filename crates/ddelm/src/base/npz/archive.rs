//! Zip archives of arrays.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Array, format, parse};

/// Reads the arrays of an archive. Together they take at most `room` bytes.
pub fn unpack(file: impl Read + Seek, mut room: u64) -> io::Result<BTreeMap<String, Array>> {
    let mut archive = ZipArchive::new(file)?;
    let mut arrays = BTreeMap::new();
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i)?;
        let file = entry.name()?.into_owned();
        let name = file.strip_suffix(".npy").unwrap_or(&file).to_owned();
        let array = parse(&mut entry, room).map_err(|e| io::Error::new(e.kind(), format!("array `{name}`: {e}")))?;
        // Members may share their bytes, and so be more together than the file.
        room -= size_of_val(&array.data[..]) as u64;
        arrays.insert(name, array);
    }
    Ok(arrays)
}

/// Writes arrays as an archive, under their names.
pub fn pack(file: &mut (impl Write + Seek), arrays: &[(&str, Array)]) -> io::Result<()> {
    let mut archive = ZipWriter::new(file).set_auto_large_file();
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, array) in arrays {
        archive.start_file(format!("{name}.npy"), options)?;
        format(array, &mut archive)?;
    }
    archive.finish()?;
    Ok(())
}
