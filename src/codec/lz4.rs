//! LZ4 blocks with their decompressed length ([LZ4 block format](https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md)).
//!
//! ```text
//! length u32 LE  LZ4 block        or        STORED_RAW u32 LE  bytes
//! ```

/// The highest ratio of compressed data. It bounds what a corrupt length can allocate.
const MAX_RATIO: usize = 16;
/// The length field of data that is stored without compression, since its ratio would exceed [`MAX_RATIO`].
const STORED_RAW: u32 = u32::MAX;

/// Compresses bytes. Data whose ratio would exceed [`MAX_RATIO`], or of 4 GiB and more, is stored without compression.
pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    let block = lz4_flex::block::compress(bytes);
    match u32::try_from(bytes.len()) {
        Ok(len) if len != STORED_RAW && bytes.len() / MAX_RATIO <= block.len() => {
            [&len.to_le_bytes(), block.as_slice()].concat()
        }
        _ => [&STORED_RAW.to_le_bytes(), bytes].concat(),
    }
}

/// Decompresses the output of [`compress`]; `None` if it is corrupt. Allocates at most `MAX_RATIO` times the input.
pub(crate) fn decompress(bytes: &[u8]) -> Option<Vec<u8>> {
    let (len, block) = bytes.split_first_chunk::<4>()?;
    let len = u32::from_le_bytes(*len);
    if len == STORED_RAW {
        return Some(block.to_vec());
    }
    let len = len as usize;
    (len / MAX_RATIO <= block.len()).then(|| lz4_flex::block::decompress(block, len).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_compression() {
        for bytes in [Vec::new(), b"abcabcabcabcabc".to_vec(), vec![0; 100_000], (0..=255).collect()] {
            let compressed = compress(&bytes);
            assert_eq!(decompress(&compressed), Some(bytes));
        }
        assert_eq!((decompress(&[]), decompress(&[0xff, 0xff, 0, 0, 1])), (None, None));
    }
}
