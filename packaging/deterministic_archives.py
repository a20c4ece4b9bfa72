"""Writes archives whose bytes depend on their content alone: no clock, no user, no order of a folder."""

import gzip
import io
import stat
import tarfile
import time
import zipfile
from pathlib import Path

# A file of an archive: its name, its bytes, and whether it is a program.
Entry = tuple[str, bytes, bool]

ZIP_EPOCH = 315532800  # 1980-01-01, the earliest time in a zip file


def mode(is_program: bool) -> int:
    return 0o755 if is_program else 0o644


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=9, mtime=0)


def write_tar_gz(path: Path, entries: list[Entry], seconds: int) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data, is_program in entries:
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = len(data), mode(is_program), seconds
            archive.addfile(info, io.BytesIO(data))
    path.write_bytes(gzipped(buffer.getvalue()))


def write_zip(path: Path, entries: list[Entry], seconds: int) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data, is_program in entries:
            info = zipfile.ZipInfo(name, time.gmtime(max(seconds, ZIP_EPOCH))[:6])
            info.create_system = 3  # Unix, also when Python runs on Windows: readers then use the mode
            info.external_attr = (stat.S_IFREG | mode(is_program)) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
