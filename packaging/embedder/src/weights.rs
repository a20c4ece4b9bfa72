//! Reads tensors from a safetensors file.
//!
//! The file is eight bytes with the length of a JSON object, the object, and the numbers. The object gives the type, shape
//! and range of each tensor.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// The longest header that is read. The one of the model has 12 KB.
const MAX_HEADER: u64 = 1 << 20;

/// An open file of tensors. Threads may read from it at the same time.
pub(crate) struct Weights {
    file: File,
    header: HashMap<String, Value>,
    /// Where the numbers begin in the file.
    data: u64,
}

impl Weights {
    /// Opens a file and reads its header.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        let mut length = [0; 8];
        read_exact_at(&file, &mut length, 0)?;
        let length = u64::from_le_bytes(length);
        ensure!(length <= MAX_HEADER, "its header is too long");
        let mut header = vec![0; usize::try_from(length)?];
        read_exact_at(&file, &mut header, 8)?;
        let header = serde_json::from_slice(&header).context("its header is no JSON object")?;
        Ok(Self { file, header, data: 8 + length })
    }

    /// Returns the position in the file of a tensor of 32-bit floats, which must have this shape.
    pub(crate) fn position(&self, name: &str, shape: &[usize]) -> Result<u64> {
        let tensor = self.header.get(name).with_context(|| format!("it has no {name}"))?;
        let is_expected = tensor["dtype"] == "F32" && tensor["shape"] == Value::from(shape);
        ensure!(is_expected, "{name} is not {shape:?} of F32");
        let start = tensor["data_offsets"][0].as_u64().with_context(|| format!("{name} has no offset"))?;
        Ok(self.data.saturating_add(start))
    }

    /// Reads numbers from a position in the file.
    pub(crate) fn read(&self, numbers: &mut [f32], position: u64) -> io::Result<()> {
        read_exact_at(&self.file, bytemuck::cast_slice_mut(numbers), position)?;
        // Does nothing on the usual processors.
        for number in numbers {
            *number = f32::from_bits(u32::from_le(number.to_bits()));
        }
        Ok(())
    }

    /// Reads a whole tensor.
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let mut numbers = vec![0.0; shape.iter().product()];
        self.read(&mut numbers, self.position(name, shape)?).with_context(|| format!("can't read {name}"))?;
        Ok(numbers)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, position)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut position: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, position)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                position += read as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use super::*;

    fn opened(name: &str, header: &str, numbers: &[f32]) -> Result<Weights> {
        let path = env::temp_dir().join(format!("qipu-embed-{}-{name}", process::id()));
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        fs::write(&path, bytes).unwrap();
        let weights = Weights::open(&path);
        let _ = fs::remove_file(&path);
        weights
    }

    #[test]
    fn tensors_are_read() {
        let header = r#"{"__metadata__":{"format":"pt"},
            "a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},
            "b":{"dtype":"F32","shape":[1],"data_offsets":[16,20]},
            "c":{"dtype":"I64","shape":[1],"data_offsets":[16,24]},
            "d":{"dtype":"F32","shape":[9],"data_offsets":[4,40]}}"#;
        let weights = opened("read", header, &[1.0, -2.0, 0.5, 3.0, 7.0]).unwrap();
        assert_eq!(weights.tensor("a", &[2, 2]).unwrap(), [1.0, -2.0, 0.5, 3.0]);
        assert_eq!(weights.tensor("b", &[1]).unwrap(), [7.0]);
        let wrong: [(&str, &[usize]); 4] = [("a", &[4]), ("c", &[1]), ("d", &[9]), ("e", &[1])];
        for (name, shape) in wrong {
            assert!(weights.tensor(name, shape).is_err(), "{name}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        assert!(opened("list", "[]", &[]).is_err());
        assert!(opened("text", "no JSON", &[]).is_err());
        let path = env::temp_dir().join(format!("qipu-embed-{}-short", process::id()));
        for bytes in [&b"short"[..], &[255; 16]] {
            fs::write(&path, bytes).unwrap();
            assert!(Weights::open(&path).is_err());
        }
        fs::remove_file(&path).unwrap();
    }
}
