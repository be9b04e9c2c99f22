"""Remembers the keeper of each class of URLs, the URL that was fetched for all of them: canaries are compared with it.

Most classes of a long crawl are never asked for again, so the URLs of all but the newest are written to a temporary
file, some together in a *block*. A class holds the number of its block. What cannot be written is not known any more.
"""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Iterator
from typing import IO

#: URLs in one block, which are read together, and URLs that are written together.
_IN_BLOCK, _TOGETHER = 16, 512


class Keepers:
    """Keepers by class and block. The rules that change a keeper are the same for all keepers of one block."""

    def __init__(self) -> None:
        self._rules = array("L", [0])  #: by block, the number of these rules. There is no block 0.
        self._places = array("Q", [0, 0])  #: where each block begins in the file; after the last one, its end
        self._file: IO[bytes] | None = None
        self._open: dict[int, int] = {}  #: by the number of rules, the block that is not full
        self._new: dict[int, dict[bytes, str]] = {}  #: by block, the keepers that are not written
        self._count = 0  #: of these

    def add(self, class_key: bytes, url: str, rules: int) -> int:
        """Let *url*, which the rules with the number *rules* change, be the keeper of a class. Returns its block."""
        if self._count >= _TOGETHER:
            self._write_blocks()
        block = self._open.get(rules)
        if block is None:
            block = self._open[rules] = len(self._rules)
            self._rules.append(rules)
            self._new[block] = {}
        keepers = self._new[block]
        keepers[class_key] = url
        self._count += 1
        if len(keepers) >= _IN_BLOCK:
            del self._open[rules]
        return block

    def rules_number(self, block: int) -> int:
        """The number of the rules that change the keepers of *block*."""
        return self._rules[block]

    def keeper_url(self, class_key: bytes, block: int) -> str | None:
        """The keeper of the class *class_key* in *block*; None if it is not known any more."""
        if block in self._new:
            return self._new[block].get(class_key)
        found = self._read_block(block).partition(f"\n{class_key.hex()} ".encode())[2]
        return found.partition(b"\n")[0].decode("utf-8", "surrogatepass") or None

    def __iter__(self) -> Iterator[tuple[bytes, str, int]]:
        """Each class that had a keeper, with the keeper and its block, the newest last."""
        for block in range(1, len(self._rules)):
            if block in self._new:
                yield from ((of, url, block) for of, url in self._new[block].items())
                continue
            for line in self._read_block(block).split(b"\n")[1:-1]:
                name, _, url = line.partition(b" ")
                yield bytes.fromhex(name.decode()), url.decode("utf-8", "surrogatepass"), block

    def _read_block(self, block: int) -> bytes:
        begin, end = self._places[block : block + 2]
        if self._file is None or begin == end:
            return b""
        try:
            self._file.seek(begin)
            return self._file.read(end - begin)
        except OSError:
            return b""

    def _write_blocks(self) -> None:
        """Write the keepers in memory to the temporary file, in blocks."""
        blocks, begin = [], self._places[-1]
        end = begin
        for keepers in self._new.values():
            lines = "\n".join(f"{of.hex()} {url}" for of, url in keepers.items())
            blocks.append(f"\n{lines}\n".encode("utf-8", "surrogatepass"))
            end += len(blocks[-1])
            self._places.append(end)
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            self._file.seek(begin)
            self._file.write(b"".join(blocks))
        except OSError:
            pass  # what was written is found by its class, and the others are not found
        self._new.clear()
        self._open.clear()
        self._count = 0
