"""Draws which URLs are canaries. A site cannot guess the draw, and the draw stays the same throughout a crawl.

The secret behind the draw is kept in ``DUST_DIR``. Each day has another draw, so that every URL has its turn one day;
a paused job goes on with the draw of the day on which it began.
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
    """A draw that chooses a share of all URLs, the same URLs throughout one crawl."""

    def __init__(self, secret: bytes, day: str) -> None:
        self.secret, self.day = secret, day

    def chooses(self, url: str, rate: float) -> bool:
        """Whether the draw chooses *url* when it chooses a share of *rate* of all URLs."""
        return self._drawn(f"{self.day} {url}") < rate * 2**64

    def number(self, name: str, below: int) -> int:
        """A whole number, at least 0 and less than *below*, that is always the same for *name*."""
        return self._drawn(f"{self.day} number {name}") % below

    def _drawn(self, text: str) -> int:
        """A number of 64 bits for *text*, which nobody can compute without the secret."""
        said = text.encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(said, key=self.secret, digest_size=8).digest(), "big")


def local_draw(folder: Path) -> Draw:
    """The draw by the secret in *folder*, which is made if there is none; if it cannot be saved, it lasts for this crawl."""
    day = datetime.now(UTC).date().isoformat()
    try:
        return Draw(_kept_secret(folder), day)
    except OSError:
        return Draw(os.urandom(_BYTES), day)


def _kept_secret(folder: Path) -> bytes:
    """The secret in *folder*. If there is none, a new one is made and saved."""
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
