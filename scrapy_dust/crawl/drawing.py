"""Which URLs are canaries: drawn with a secret, so that a site cannot know them; the same ones throughout a crawl.

The secret is kept in ``DUST_DIR``. It is another draw each day, so that no URL is left out for ever; a job that is
paused goes on with the draw of the day on which it began.
"""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

#: In ``DUST_DIR``.
KEY_FILE = "canaries.key"
_BYTES = 32


class Draw:
    """Of one crawl."""

    def __init__(self, secret: bytes, day: str) -> None:
        self.secret, self.day = secret, day

    def takes(self, url: str, rate: float) -> bool:
        """Whether *url* is among a share of *rate* of all URLs."""
        said = f"{self.day} {url}".encode("utf-8", "surrogatepass")
        drawn = blake2b(said, key=self.secret, digest_size=8).digest()
        return int.from_bytes(drawn, "big") < rate * 2**64


def local_draw(folder: Path) -> Draw:
    """With the secret of *folder*, which is made where there is none. Where none can be kept, this crawl has its own."""
    day = datetime.now(UTC).date().isoformat()
    try:
        return Draw(_kept(folder), day)
    except OSError:
        return Draw(os.urandom(_BYTES), day)


def _kept(folder: Path) -> bytes:
    path = folder / KEY_FILE
    with suppress(FileNotFoundError):
        known = path.read_bytes()
        if len(known) == _BYTES:
            return known
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f".{KEY_FILE}.{os.urandom(4).hex()}"
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.urandom(_BYTES))
    made.replace(path)
    return path.read_bytes()
