"""Safe writing of files: one writer at a time, and either the old content or the new one is on the disk.

A killed writer does not hinder the next: its lock ends with it, and the next writer removes its unfinished file.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from scrapy_dust.errors import RuleBookError

#: So long a writer waits for another, in seconds. Writing takes milliseconds.
PATIENCE = 10.0

_PAUSE = 0.02


def is_uri(path: str) -> bool:
    """Whether *path* is a URI."""
    return "://" in path


def in_project(path: str) -> str:
    """*path* as settings mean it: relative to the folder of the project's scrapy.cfg, if there is one.

    So a crawl finds the same file from whichever folder of the project it is started.
    """
    from scrapy.utils.conf import closest_scrapy_cfg  # noqa: PLC0415  # not needed to read a path as given

    configuration = "" if is_uri(path) else closest_scrapy_cfg()
    return str(Path(configuration).parent / path) if configuration else path


def read(path: str) -> bytes | None:
    """The content of a path or fsspec URI; None where there is no such file."""
    try:
        return _read_uri(path) if is_uri(path) else Path(path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RuleBookError(
            path, f"cannot be read ({_reason(error)}). Check the path and its permissions."
        ) from None


def _read_uri(uri: str) -> bytes:
    try:
        fsspec = import_module("fsspec")
    except ImportError:
        raise RuleBookError(
            uri, "needs fsspec, which is not installed. Run `pip install scrapy-dust[uri]`."
        ) from None
    try:
        with fsspec.open(uri, "rb") as file:
            content: bytes = file.read()
    except (ImportError, ValueError) as error:  # a protocol that is unknown, or whose package is missing
        raise RuleBookError(uri, f"fsspec cannot open it ({_reason(error)}). Check the URI.") from None
    return content


def make_folder(folder: Path) -> None:
    """Make *folder* and those above it. Raises `RuleBookError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RuleBookError(
            str(folder), f"cannot be made ({_reason(error)}). Check the path and its permissions."
        ) from None


@contextmanager
def lock(path: str, patience: float = PATIENCE) -> Iterator[Path]:
    """Keep other writers of *path* out. Returns the file itself, where *path* is a link to it.

    The lock is the operating system's, on a second file beside *path*, so it cannot outlive its process.
    """
    if is_uri(path):
        raise RuleBookError(
            path, "only files can be written, not URIs. Give a path first in DUST_RULES, or with --rules."
        )
    file = Path(os.path.realpath(path))
    beside = file.with_name(f".{file.name}.lock")
    try:
        descriptor = _acquire_lock(path, beside, patience)
    except OSError as error:
        raise _error_of_writing(path, error) from None
    try:
        yield file
    finally:
        # Removed while still held: who waits for it sees that the name is gone, and begins again.
        with suppress(OSError):
            beside.unlink()
        os.close(descriptor)


def _acquire_lock(path: str, beside: Path, patience: float) -> int:
    """Lock the file *beside*, waiting at most *patience* seconds. Returns the open file's descriptor."""
    until = time.monotonic() + patience
    while True:
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
        if _try_lock(descriptor) and _is_locked_file(beside, descriptor):
            return descriptor
        os.close(descriptor)
        if time.monotonic() > until:
            raise RuleBookError(
                path, f"another process has been writing it for {patience:g} s. Try again when it is done."
            )
        time.sleep(_PAUSE)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _is_locked_file(beside: Path, descriptor: int) -> bool:
    """Whether the name *beside* still means the locked file, which its last owner may have removed just before."""
    try:
        return os.path.samestat(beside.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def replace(file: Path, content: bytes) -> None:
    """Put *content* in the place of *file*, whose `lock` is held. Its permissions stay."""
    beginning = file.with_name(f".{file.name}.new")
    try:
        permissions = stat.S_IMODE(file.stat().st_mode) if file.exists() else None
        if permissions is not None and not os.access(file, os.W_OK):
            raise PermissionError(0, "it is read-only")
        beginning.unlink(missing_ok=True)
        _write_new_file(beginning, content, permissions)
        beginning.replace(file)
        _sync_folder(file.parent)
    except OSError as error:
        with suppress(OSError):
            beginning.unlink(missing_ok=True)
        raise _error_of_writing(str(file), error) from None


def _write_new_file(file: Path, content: bytes, permissions: int | None) -> None:
    with file.open("xb") as stream:
        if permissions is not None:
            file.chmod(permissions)
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    """Write the folder to the disk, so that a new name outlives a power cut. Some systems cannot."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _error_of_writing(path: str, error: OSError) -> RuleBookError:
    if isinstance(error, FileNotFoundError):
        return RuleBookError(
            path, f"cannot be written, the folder {str(Path(path).parent)!r} does not exist. Make it first."
        )
    return RuleBookError(path, f"cannot be written ({_reason(error)}). Check the path and its permissions.")


def _reason(error: Exception) -> str:
    """The message of *error* on one line, without a full stop."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(said.split()).rstrip(".")
