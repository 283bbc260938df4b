//! Files that are written whole or not at all.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::error::{Error, Result};

/// Temporary names that are tried before giving up. They are 64 random bits: the second is never needed.
const TRIES: usize = 8;

/// The temporary files of this process.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Writes a file under a temporary name in the same folder and then renames it: a reader, or a run that stops half
/// way, sees the old file or the new one, never a part of it.
pub fn write(path: impl AsRef<Path>, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
    let path = path.as_ref();
    replace(path, fill).map_err(|error| failure(path, &error))
}

/// Tells whether a file could be written, before the work that goes into it is done. Leaves nothing behind.
pub fn check(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let attempt = || {
        check_name(path)?;
        Temporary::beside(path).map(drop)
    };
    attempt().map_err(|error| failure(path, &error))
}

/// Removes the temporary files of this process, and lets no more be made: for a program that is about to end, on
/// whichever thread it learns that. A thread that is writing waits for the end.
pub fn abandon() {
    let mut files = temporary();
    files.drain(..).for_each(|path| drop(fs::remove_file(path)));
    std::mem::forget(files);
}

fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file under a temporary name. It is removed when it is dropped.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Makes one in the folder of a file. The name is random, for in containers all processes have the same number;
    /// and short, for that of the file may be as long as names can be.
    fn beside(path: &Path) -> io::Result<(Self, File)> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let temporary = path.with_file_name(format!(".ddelm-{:016x}", RandomState::new().build_hasher().finish()));
            // Known before it is there, so that whoever abandons it finds it.
            let mut files = self::temporary();
            files.push(temporary.clone());
            match File::create_new(&temporary) {
                Ok(file) => return Ok((Temporary { path: temporary }, file)),
                Err(error) => {
                    // Not ours: another process may be at it.
                    files.pop();
                    last = error;
                }
            }
            if last.kind() != io::ErrorKind::AlreadyExists {
                break;
            }
        }
        Err(last)
    }

    /// Gives the file its name.
    fn rename(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        temporary().retain(|known| *known != self.path);
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut files = temporary();
        if let Some(index) = files.iter().position(|known| *known == self.path) {
            files.swap_remove(index);
            // The first error is the one to report.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn replace(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    check_name(path)?;
    let (temporary, file) = Temporary::beside(path)?;
    let mut file = BufWriter::new(file);
    fill(&mut file)?;
    // The content reaches the disk before the name does.
    file.into_inner()?.sync_all()?;
    temporary.rename(path)?;
    sync_folder(path);
    Ok(())
}

/// Lets the new name reach the disk too. Not every system can do that, and the file is there in any case.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Refuses what is no name of a file.
fn check_name(path: &Path) -> io::Result<()> {
    match path.file_name() {
        None => Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file")),
        Some(_) if path.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Some(_) => Ok(()),
    }
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
        assert!(write(folder.path(), |_| Ok(())).is_err(), "a folder was replaced by a file");
        assert!(check(folder.path().join("none").join("a.txt")).is_err());
    }

    /// As two processes in two containers do, which have the same number.
    #[test]
    fn what_lies_around_is_neither_in_the_way_nor_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let other = folder.path().join(format!(".a.txt.{}-0", std::process::id()));
        fs::write(&other, "another's").unwrap();
        check(&path).unwrap();
        assert!(!path.exists());
        write(&path, |file| {
            let names = || fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name());
            assert_eq!(names().filter(|name| name.to_string_lossy().starts_with(".ddelm-")).count(), 1);
            file.write_all(b"mine")
        })
        .unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"another's");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn names_as_long_as_names_can_be_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n".repeat(255));
        write(&path, |file| file.write_all(b"x")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
    }

    #[test]
    fn many_threads_write_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::thread::scope(|scope| {
            for k in 0..8u8 {
                let path = &path;
                scope.spawn(move || (0..20).for_each(|_| write(path, |file| file.write_all(&[k; 100])).unwrap()));
            }
        });
        let content = fs::read(&path).unwrap();
        assert!(content.len() == 100 && content.iter().all(|&k| k == content[0]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
