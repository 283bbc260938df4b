//! Arrays in NumPy's files: `.npy` holds one array, `.npz` is a zip archive of such files.
//!
//! An `.npy` file is a magic string, a version, the length of a header, the header (a Python dictionary with the
//! keys `descr`, `fortran_order` and `shape`), and the numbers. That is little enough to read and write here: a
//! general reader brings a grammar of Python literals with it. Numbers of any real type are read as f64, and only
//! f64 is written. Archives are read as `np.savez` (stored) and `np.savez_compressed` (deflated) write them, and
//! written as `np.savez` does.
//!
//! # References
//!
//! NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays", and `numpy.lib.format`.

#[cfg_attr(not(feature = "files"), path = "npz/no_archive.rs")]
mod archive;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Write};
use std::path::Path;

use crate::base::atomic;
use crate::base::error::{Error, Result};

/// An array of numbers in C order: the last index runs fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The extent of each axis; empty for a single number.
    pub shape: Vec<usize>,
    /// The numbers, as many as the product of the extents.
    pub data: Vec<f64>,
}

impl Array {
    /// An array with one axis.
    pub fn vector(data: Vec<f64>) -> Self {
        Self { shape: vec![data.len()], data }
    }
}

/// Bytes of numbers that a small file may unpack to. A large one may hold as many numbers as it has bytes.
const MOST_UNPACKED: u64 = 1 << 30;

/// Bytes of the longest header. NumPy's have some hundred.
const LONGEST_HEADER: u64 = 1 << 16;

/// Reads all arrays of an `.npz` file.
pub fn read(path: impl AsRef<Path>) -> Result<BTreeMap<String, Array>> {
    let path = path.as_ref();
    let open = || -> io::Result<_> {
        let (file, length) = open(path)?;
        archive::unpack(BufReader::new(file), most_unpacked(length))
    };
    open().map_err(|e| reading(path, &e))
}

/// All arrays of an `.npz` file that is in memory.
pub fn decode(bytes: &[u8]) -> io::Result<BTreeMap<String, Array>> {
    archive::unpack(Cursor::new(bytes), most_unpacked(bytes.len() as u64))
}

/// Opens a file with data, and tells its length. A pipe or a device may block or never end.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let about = std::fs::metadata(path)?;
    match about.is_file() {
        true => Ok((File::open(path)?, about.len())),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// How many bytes of numbers are taken from a file of this length: every byte of it may be a number.
fn most_unpacked(length: u64) -> u64 {
    MOST_UNPACKED.max(length.saturating_mul(size_of::<f64>() as u64))
}

/// Writes arrays to an `.npz` file, under their names. The file is complete or not there.
pub fn write(path: impl AsRef<Path>, arrays: &[(&str, Array)]) -> Result<()> {
    atomic::write(path, |file| archive::pack(file, arrays))
}

/// Reads the array of an `.npy` file.
pub fn read_npy(path: impl AsRef<Path>) -> Result<Array> {
    let path = path.as_ref();
    let parse_file = || {
        let (file, length) = open(path)?;
        parse(&mut BufReader::new(file), most_unpacked(length))
    };
    parse_file().map_err(|e| reading(path, &e))
}

/// The array of an `.npy` file that is in memory.
pub fn decode_npy(mut bytes: &[u8]) -> io::Result<Array> {
    let most = most_unpacked(bytes.len() as u64);
    parse(&mut bytes, most)
}

/// Writes an array to an `.npy` file. The file is complete or not there.
pub fn write_npy(path: impl AsRef<Path>, array: &Array) -> Result<()> {
    atomic::write(path, |file| format(array, file))
}

fn reading(path: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "check the permissions",
        _ => "save real arrays with np.save, np.savez or np.savez_compressed",
    };
    Error::File { path: path.into(), problem: format!("cannot read: {error}"), hint: hint.into() }
}

fn invalid(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.into())
}

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Writes an array in the `.npy` format, version 1.
fn format(array: &Array, out: &mut impl Write) -> io::Result<()> {
    if count(&array.shape) != Some(array.data.len()) {
        return Err(invalid(format!("{} numbers do not fill the shape {:?}", array.data.len(), array.shape)));
    }
    let shape: String = array.shape.iter().map(|n| format!("{n}, ")).collect();
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    // The format asks for numbers that start at a multiple of 64 bytes, and for a header that ends with a newline.
    let padding = 63 - (MAGIC.len() + 4 + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding).chain(['\n']));
    let length = u16::try_from(header.len()).map_err(|_| invalid("too many axes"))?;

    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for chunk in array.data.chunks(1024) {
        let bytes: Vec<u8> = chunk.iter().flat_map(|v| v.to_le_bytes()).collect();
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// Reads an array in the `.npy` format that takes at most so many bytes of memory.
fn parse(input: &mut impl Read, most: u64) -> io::Result<Array> {
    let header = Header::parse(&read_header(input)?)?;
    let size = header.number.size;
    let count = count(&header.shape).ok_or_else(|| invalid("the shape is too large"))?;
    let bytes = count.checked_mul(size).ok_or_else(|| invalid("the shape is too large"))?;
    if count as u64 > most / size_of::<f64>() as u64 {
        return Err(invalid(format!("{count} numbers are more than the {most} bytes that such a file may unpack to")));
    }

    // The vector grows with what is really there, so a wrong shape cannot ask for all the memory.
    let mut raw = Vec::new();
    input.take(bytes as u64).read_to_end(&mut raw)?;
    if raw.len() < bytes {
        return Err(invalid(format!("{} of {bytes} bytes are missing", bytes - raw.len())));
    }
    let data = raw.chunks_exact(size).map(|bytes| header.number.decode(bytes)).collect();
    let data = if header.fortran_order { c_order(&header.shape, data) } else { data };
    Ok(Array { shape: header.shape, data })
}

/// The number of elements, unless it overflows.
fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, &extent| n.checked_mul(extent))
}

/// Reads everything before the numbers, and returns the header's text.
fn read_header(input: &mut impl Read) -> io::Result<String> {
    let mut start = [0; 8];
    input.read_exact(&mut start)?;
    if &start[..6] != MAGIC {
        return Err(invalid("this is not an array in NumPy's format"));
    }
    let length = match start[6] {
        1 => {
            let mut length = [0; 2];
            input.read_exact(&mut length)?;
            u64::from(u16::from_le_bytes(length))
        }
        2 | 3 => {
            let mut length = [0; 4];
            input.read_exact(&mut length)?;
            u64::from(u32::from_le_bytes(length))
        }
        version => return Err(invalid(format!("version {version} of the format is not known"))),
    };
    if length > LONGEST_HEADER {
        return Err(invalid(format!("the header has {length} bytes, more than {LONGEST_HEADER}")));
    }
    let mut header = String::new();
    if input.take(length).read_to_string(&mut header)? as u64 != length {
        return Err(invalid("the header is cut off"));
    }
    Ok(header)
}

/// What the header says.
struct Header {
    number: Number,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, with the keys in any order.
    fn parse(text: &str) -> io::Result<Self> {
        let after = |key: &str| -> io::Result<&str> {
            let start = text.find(&format!("'{key}':")).ok_or_else(|| invalid(format!("the header has no `{key}`")))?;
            Ok(text[start + key.len() + 3..].trim_start())
        };
        let descr = after("descr")?
            .strip_prefix('\'')
            .and_then(|rest| rest.split('\'').next())
            .ok_or_else(|| invalid("arrays of records are not supported"))?;
        let shape = after("shape")?
            .strip_prefix('(')
            .and_then(|rest| rest.split(')').next())
            .and_then(|list| list.split(',').map(str::trim).filter(|n| !n.is_empty()).map(|n| n.parse().ok()).collect())
            .ok_or_else(|| invalid("the header's `shape` is not a list of numbers"))?;
        Ok(Self { number: Number::parse(descr)?, fortran_order: after("fortran_order")?.starts_with("True"), shape })
    }
}

/// The type of the numbers in a file.
#[derive(Clone, Copy)]
struct Number {
    kind: Kind,
    /// In bytes, at most 8.
    size: usize,
    big_endian: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Float,
    Signed,
    /// Also truth values, 0 and 1.
    Unsigned,
}

impl Number {
    /// Reads a type such as `<f8`: byte order, kind and size.
    fn parse(descr: &str) -> io::Result<Self> {
        let (big_endian, rest) = match descr.strip_prefix('>') {
            Some(rest) => (true, rest),
            None => (false, descr.trim_start_matches(['<', '|', '='])),
        };
        let (kind, size) = match rest {
            "f4" | "f8" => (Kind::Float, &rest[1..]),
            "i1" | "i2" | "i4" | "i8" => (Kind::Signed, &rest[1..]),
            "u1" | "u2" | "u4" | "u8" | "b1" => (Kind::Unsigned, &rest[1..]),
            _ => return Err(invalid(format!("numbers of type `{descr}` are not supported"))),
        };
        let size = size.parse().map_err(|_| invalid(format!("numbers of type `{descr}` are not supported")))?;
        Ok(Self { kind, size, big_endian })
    }

    /// The number in `self.size` bytes.
    fn decode(self, bytes: &[u8]) -> f64 {
        let mut buffer = [0; 8];
        buffer[..self.size].copy_from_slice(bytes);
        if self.big_endian {
            buffer[..self.size].reverse();
        }
        let bits = u64::from_le_bytes(buffer);
        match self.kind {
            Kind::Float if self.size == 4 => f64::from(f32::from_bits(bits as u32)),
            Kind::Float => f64::from_bits(bits),
            Kind::Unsigned => bits as f64,
            Kind::Signed => {
                // Shifting the sign to the top and back extends it.
                let unused = 64 - 8 * self.size as u32;
                (((bits << unused) as i64) >> unused) as f64
            }
        }
    }
}

/// Reorders numbers whose first index runs fastest, so that the last one does.
fn c_order(shape: &[usize], data: Vec<f64>) -> Vec<f64> {
    let strides: Vec<usize> = shape
        .iter()
        .scan(1, |stride, &extent| {
            let this = *stride;
            *stride *= extent;
            Some(this)
        })
        .collect();
    let source = |mut index: usize| {
        let mut from = 0;
        for (&extent, &stride) in shape.iter().zip(&strides).rev() {
            from += index % extent * stride;
            index /= extent;
        }
        from
    };
    (0..data.len()).map(|index| data[source(index)]).collect()
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::archive::unpack;
    use super::*;

    /// An `.npy` file as NumPy writes it.
    fn npy(descr: &str, fortran_order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n");
        let mut file = MAGIC.to_vec();
        file.extend([1, 0]);
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(data);
        file
    }

    fn parsed(file: &[u8]) -> std::result::Result<Array, String> {
        decode_npy(file).map_err(|e| e.to_string())
    }

    #[test]
    fn written_bytes_are_those_of_numpy() {
        let mut file = Vec::new();
        format(&Array { shape: vec![2, 1], data: vec![1.0, -2.0] }, &mut file).unwrap();
        assert_eq!(&file[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let header = str::from_utf8(&file[10..128]).unwrap();
        assert_eq!(header.trim_end(), "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1, ), }");
        assert!(header.ends_with(" \n"));
        assert_eq!(file[128..], [0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0]);
    }

    #[test]
    fn numbers_of_every_type_are_read() {
        let file = |descr: &str, data: &[u8]| parsed(&npy(descr, "False", "(1,)", data)).map(|a| a.data[0]);
        assert_eq!(file("'<f8'", &1.25f64.to_le_bytes()), Ok(1.25));
        assert_eq!(file("'>f8'", &1.25f64.to_be_bytes()), Ok(1.25));
        assert_eq!(file("'<f4'", &(-0.5f32).to_le_bytes()), Ok(-0.5));
        assert_eq!(file("'<i8'", &(-7i64).to_le_bytes()), Ok(-7.0));
        assert_eq!(file("'>i4'", &(-300i32).to_be_bytes()), Ok(-300.0));
        assert_eq!(file("'<i2'", &300i16.to_le_bytes()), Ok(300.0));
        assert_eq!(file("'|i1'", &[0x80]), Ok(-128.0));
        assert_eq!(file("'<u8'", &u64::MAX.to_le_bytes()), Ok(u64::MAX as f64));
        assert_eq!(file("'|u1'", &[0x80]), Ok(128.0));
        assert_eq!(file("'|b1'", &[1]), Ok(1.0));
        assert!(file("'<c16'", &[0; 16]).unwrap_err().contains("`<c16`"));
        assert!(file("'<é'", &[0; 16]).unwrap_err().contains("not supported"));
        assert!(file("[('a', '<f8')]", &[0; 8]).unwrap_err().contains("records"));
    }

    #[test]
    fn fortran_order_becomes_c_order() {
        let array = parsed(&npy("'|u1'", "True", "(2, 3)", &[0, 10, 1, 11, 2, 12])).unwrap();
        assert_eq!(array.data, [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
        let numbers: Vec<u8> = (0..24).collect();
        let array = parsed(&npy("'|u1'", "True", "(2, 3, 4)", &numbers)).unwrap();
        let at = |i: usize, j: usize, k: usize| array.data[(i * 3 + j) * 4 + k];
        for (i, j, k) in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, 3), (0, 2, 1)] {
            assert_eq!(at(i, j, k), (i + 2 * j + 6 * k) as f64);
        }
        assert_eq!(parsed(&npy("'|u1'", "True", "(0, 3)", &[])).unwrap().shape, [0, 3]);
    }

    #[test]
    fn damaged_files_are_errors() {
        let good = npy("'<f8'", "False", "(2,)", &[0; 16]);
        assert_eq!(parsed(&good).unwrap(), Array::vector(vec![0.0; 2]));
        for length in 0..good.len() {
            assert!(parsed(&good[..length]).is_err(), "{length}");
        }
        let problem = |shape: &str| parsed(&npy("'<f8'", "False", shape, &[0; 16])).unwrap_err();
        assert_eq!(problem("(3,)"), "8 of 24 bytes are missing");
        assert_eq!(problem("(4294967296, 4294967296)"), "the shape is too large");
        assert!(problem("(-1,)").contains("`shape`"));
        assert!(parsed(b"PK\x03\x04 and so on").unwrap_err().contains("not an array"));
    }

    #[test]
    fn problems_name_the_file_and_the_array() {
        let folder = tempfile::tempdir().unwrap();
        let missing = read(folder.path().join("missing.npz")).unwrap_err();
        assert!(missing.to_string().contains("missing.npz") && missing.hint() == Some("check the path"), "{missing}");
        assert!(write_npy(folder.path().join("no/such/folder.npy"), &Array::vector(vec![])).is_err());
        assert!(write_npy("", &Array::vector(vec![])).is_err());

        let path = folder.path().join("bad.npz");
        fs::write(&path, "not a zip archive").unwrap();
        assert!(read(&path).is_err());

        let mut archive = ZipWriter::new(File::create(&path).unwrap());
        archive.start_file("w.npy", SimpleFileOptions::default()).unwrap();
        archive.write_all(&npy("'<U3'", "False", "()", &[0; 12])).unwrap();
        archive.finish().unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("array `w`: numbers of type `<U3`"));
    }

    #[test]
    fn compressed_archives_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let mut archive = ZipWriter::new(File::create(&path).unwrap());
        let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        archive.start_file("zeros.npy", deflated).unwrap();
        archive.write_all(&npy("'<f8'", "False", "(1000,)", &[0; 8000])).unwrap();
        archive.finish().unwrap();
        assert!(fs::metadata(&path).unwrap().len() < 1000);
        assert_eq!(read(&path).unwrap()["zeros"], Array::vector(vec![0.0; 1000]));
    }

    #[test]
    fn bombs_are_refused_before_they_go_off() {
        let packed = |names: &[&str], shape: &str, bytes: usize| {
            let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
            let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
            for name in names {
                archive.start_file(format!("{name}.npy"), deflated).unwrap();
                archive.write_all(&npy("'|u1'", "False", shape, &vec![0; bytes])).unwrap();
            }
            archive.finish().unwrap().into_inner()
        };
        let problem = decode(&packed(&["a"], "(201326592,)", 1 << 20)).unwrap_err().to_string();
        assert!(problem.contains("array `a`: 201326592 numbers are more than the 1073741824 bytes"), "{problem}");
        // One by one they are small enough.
        let three = packed(&["a", "b", "c"], "(1000,)", 1000);
        assert_eq!(unpack(Cursor::new(&three), 24_000).unwrap().len(), 3);
        let problem = unpack(Cursor::new(&three), 23_999).unwrap_err().to_string();
        assert!(problem.contains("array `c`: 1000 numbers are more than the 7999 bytes"), "{problem}");

        let mut header = MAGIC.to_vec();
        header.extend([2, 0]);
        header.extend(u32::MAX.to_le_bytes());
        assert!(parsed(&header).unwrap_err().contains("header has 4294967295 bytes"));
    }

    #[test]
    fn what_is_not_a_regular_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("not a regular file"));
        if cfg!(unix) {
            let pipe = folder.path().join("pipe.npz");
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            assert!(read(&pipe).unwrap_err().to_string().contains("not a regular file"));
            assert!(read_npy(&pipe).unwrap_err().to_string().contains("not a regular file"));
        }
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let good = [("a", Array::vector(vec![1.0, 2.0]))];
        write(&path, &good).unwrap();
        let bad = [("a", Array::vector(vec![3.0])), ("b", Array { shape: vec![2, 2], data: vec![0.0] })];
        let problem = write(&path, &bad).unwrap_err().to_string();
        assert!(problem.contains("1 numbers do not fill the shape [2, 2]"), "{problem}");
        assert_eq!(read(&path).unwrap()["a"], good[0].1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    fn any_array() -> impl Strategy<Value = Array> {
        prop::collection::vec(0usize..5, 0..4).prop_flat_map(|shape| {
            let count: usize = shape.iter().product();
            prop::collection::vec(-1e300..1e300f64, count).prop_map(move |data| Array { shape: shape.clone(), data })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn what_is_written_is_read(a in any_array(), b in any_array()) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.npz");
            write(&path, &[("a", a.clone()), ("some name", b.clone())]).unwrap();
            let arrays = read(&path).unwrap();
            prop_assert_eq!(arrays.len(), 2);
            prop_assert_eq!(&arrays["a"], &a);
            prop_assert_eq!(&arrays["some name"], &b);
            write_npy(folder.path().join("b.npy"), &b).unwrap();
            prop_assert_eq!(read_npy(folder.path().join("b.npy")).unwrap(), b);
        }
    }
}
