//! Files that are written whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Writes a file under a temporary name in the same folder and then renames it: a reader, or a run that stops half
/// way, sees the old file or the new one, never a part of it.
pub fn write(path: impl AsRef<Path>, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
    let path = path.as_ref();
    replace(path, fill).map_err(|error| failure(path, &error))
}

fn replace(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    // Numbered, for two threads may write the same file.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    };
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let temporary = path.with_file_name(temporary);

    let fill_and_rename = || {
        let mut file = BufWriter::new(File::create_new(&temporary)?);
        fill(&mut file)?;
        // The content reaches the disk before the name does.
        file.into_inner()?.sync_all()?;
        fs::rename(&temporary, path)
    };
    fill_and_rename().inspect_err(|_| {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    })
}

/// Why a file or folder could not be written.
pub fn failure(path: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "make the folder first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "check the permissions of the folder",
        io::ErrorKind::IsADirectory => "give the name of a file",
        io::ErrorKind::StorageFull => "free some space on the disk",
        _ => "",
    };
    Error::Write { path: path.into(), problem: format!("cannot write: {error}"), hint: hint.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_failure_half_way_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, |file| file.write_all(b"old")).unwrap();
        let error = write(&path, |file| {
            file.write_all(b"new, half of it")?;
            Err(io::Error::other("the pen broke"))
        });
        assert!(error.unwrap_err().to_string().contains("the pen broke"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        write(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_missing_folder_has_a_hint() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(folder.path().join("none").join("a.txt"), |_| Ok(())).unwrap_err();
        assert_eq!(error.hint(), Some("make the folder first"));
        assert!(!error.is_input());
        assert!(write("..", |_| Ok(())).is_err());
    }
}
