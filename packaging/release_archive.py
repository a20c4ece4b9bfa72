"""The archive of a release: what `cargo binstall` and the Homebrew formula install."""

from pathlib import Path

from deterministic_archives import Entry, write_tar_gz, write_zip
from package_facts import TARGETS, Facts, source_time
from shared_files import SHELLS, completions, documents, manual_pages


def archive_name(facts: Facts, triple: str) -> str:
    extension = "zip" if TARGETS[triple].os == "win32" else "tar.gz"
    return f"qipu-{facts.version}-{triple}.{extension}"


def make_archive(facts: Facts, triple: str, binary: Path, to: Path) -> None:
    folder = f"qipu-{facts.version}-{triple}"
    files: list[Entry] = [(TARGETS[triple].program, binary.read_bytes(), True)]
    files += [(name, data, False) for name, data in documents().items()]
    files += [(f"man/{name}", data, False) for name, data in manual_pages(binary).items()]
    files += [(f"completions/{SHELLS[shell]}", data, False) for shell, data in completions(binary).items()]
    entries = [(f"{folder}/{name}", data, is_program) for name, data, is_program in files]
    path = to / archive_name(facts, triple)
    write = write_zip if path.suffix == ".zip" else write_tar_gz
    write(path, entries, source_time())
