//! The arguments of `qipu merge-driver`, which git passes.

use std::path::PathBuf;

use clap::Args;

use crate::request::MergeDriverRequest;

#[derive(Debug, Args)]
pub(super) struct MergeDriverArgs {
    /// The common ancestor (%O)
    base: PathBuf,
    /// Our side; the result is written here (%A)
    ours: PathBuf,
    /// Their side (%B)
    theirs: PathBuf,
    /// The length of conflict markers (%L)
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 7)]
    marker_size: u16,
}

impl MergeDriverArgs {
    pub(super) fn into_request(self) -> MergeDriverRequest {
        let Self { base, ours, theirs, marker_size } = self;
        MergeDriverRequest { base, ours, theirs, marker_size }
    }
}
