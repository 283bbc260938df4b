//! Several pictures as one that moves: APNG, a PNG file with more frames behind the first.
//!
//! Every frame is a PNG of its own. Of the first, the header and the image data stay as they are, with an animation control (acTL) and a
//! frame control (fcTL) between them; the data of the others follow as fdAT, each behind its own fcTL. Programs that know no
//! animations show the first frame.
//!
//! # References
//!
//! W3C, *Portable Network Graphics (PNG) Specification (Third Edition)*, sections 5 and 11.3.6.

/// What every PNG file begins with.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// One chunk of a PNG file: its kind and its data.
type Chunk<'a> = ([u8; 4], &'a [u8]);

/// PNG files of one size as one animation that repeats for ever, with so many milliseconds for every frame.
pub fn apng(frames: &[Vec<u8>], milliseconds: u16) -> Result<Vec<u8>, String> {
    let frames: Vec<Vec<Chunk<'_>>> = frames.iter().map(|frame| chunks(frame)).collect::<Result<_, _>>()?;
    let header = |frame: &[Chunk<'_>]| -> Result<Vec<u8>, String> {
        let (_, data) = frame.iter().find(|(kind, _)| kind == b"IHDR").ok_or("a picture has no header")?;
        Ok(data.to_vec())
    };
    let first = header(frames.first().ok_or("an animation needs pictures")?)?;
    let mut out = SIGNATURE.to_vec();
    write(&mut out, *b"IHDR", &first);
    write(&mut out, *b"acTL", &[(frames.len() as u32).to_be_bytes(), 0u32.to_be_bytes()].concat());
    let mut sequence = 0u32;
    let mut next = || {
        sequence += 1;
        (sequence - 1).to_be_bytes()
    };
    for (k, frame) in frames.iter().enumerate() {
        if header(frame)? != first {
            return Err("the pictures of an animation differ in size".into());
        }
        // Number, width and height, offsets, delay as a fraction of a second; the frame stays, and replaces what was there.
        let mut control = next().to_vec();
        control.extend_from_slice(&first[..8]);
        control.extend_from_slice(&[0; 8]);
        control.extend_from_slice(&milliseconds.to_be_bytes());
        control.extend_from_slice(&1000u16.to_be_bytes());
        control.extend_from_slice(&[0, 0]);
        write(&mut out, *b"fcTL", &control);
        for (_, data) in frame.iter().filter(|(kind, _)| kind == b"IDAT") {
            match k {
                0 => write(&mut out, *b"IDAT", data),
                _ => write(&mut out, *b"fdAT", &[&next()[..], data].concat()),
            }
        }
    }
    write(&mut out, *b"IEND", &[]);
    Ok(out)
}

/// The chunks of a PNG file.
fn chunks(file: &[u8]) -> Result<Vec<Chunk<'_>>, String> {
    let broken = || "this is not a PNG file".to_string();
    let mut rest = file.strip_prefix(&SIGNATURE[..]).ok_or_else(broken)?;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk::<4>().ok_or_else(broken)?;
        let (kind, after) = after.split_first_chunk::<4>().ok_or_else(broken)?;
        let length = u32::from_be_bytes(*length) as usize;
        let data = after.get(..length).ok_or_else(broken)?;
        rest = after.get(length + 4..).ok_or_else(broken)?;
        found.push((*kind, data));
    }
    Ok(found)
}

/// Appends a chunk: length, kind, data, and the check sum of the latter two.
fn write(out: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend_from_slice(&kind);
    out.extend_from_slice(data);
    let sum = check_sum(&out[start..]);
    out.extend_from_slice(&sum.to_be_bytes());
}

/// The cyclic redundancy check of PNG: the remainder by the polynomial 0x04c11db7, with the bits the other way round.
fn check_sum(data: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0x04c1_1db7_u32.reverse_bits();
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut k = 0;
        while k < 256 {
            let (mut value, mut bit) = (k as u32, 0);
            while bit < 8 {
                value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
                bit += 1;
            }
            table[k] = value;
            k += 1;
        }
        table
    };
    !data.iter().fold(u32::MAX, |sum, byte| TABLE[((sum ^ u32::from(*byte)) & 0xff) as usize] ^ (sum >> 8))
}

#[cfg(test)]
mod tests {
    use super::super::raster::image;
    use super::*;

    fn frame(colour: u8) -> Vec<u8> {
        image(3, 2, &[[colour, 0, 0, 255]; 6]).unwrap()
    }

    #[test]
    fn check_sums_are_those_of_png() {
        // The last chunk of every PNG file.
        assert_eq!(check_sum(b"IEND"), 0xae42_6082);
        let picture = frame(7);
        let mut copied = SIGNATURE.to_vec();
        chunks(&picture).unwrap().into_iter().for_each(|(kind, data)| write(&mut copied, kind, data));
        assert_eq!(copied, picture);
    }

    #[test]
    fn frames_follow_each_other_with_numbers() {
        let found = apng(&[frame(0), frame(100), frame(200)], 80).unwrap();
        let all = chunks(&found).unwrap();
        let kinds: Vec<&str> = all.iter().map(|(kind, _)| std::str::from_utf8(kind).unwrap()).collect();
        assert_eq!(kinds, ["IHDR", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "fcTL", "fdAT", "IEND"]);
        let numbers: Vec<u32> = all
            .iter()
            .filter(|(kind, _)| kind == b"fcTL" || kind == b"fdAT")
            .map(|(_, data)| u32::from_be_bytes(data[..4].try_into().unwrap()))
            .collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        let (_, control) = all[2];
        assert_eq!((control.len(), &control[20..24]), (26, &[0, 80, 3, 232][..]));
    }

    #[test]
    fn what_is_no_animation_is_refused() {
        assert!(apng(&[], 80).unwrap_err().contains("needs pictures"));
        assert!(apng(&[b"GIF89a".to_vec()], 80).unwrap_err().contains("not a PNG"));
        let other = image(2, 2, &[[0; 4]; 4]).unwrap();
        assert!(apng(&[frame(0), other], 80).unwrap_err().contains("differ in size"));
    }
}
