"""Lets several processes mine one log, each some of its sites, into one rule book.

The name of a site alone decides to which shard it belongs, so that all processes on all machines agree. A shard does
not change the rule book; it writes a *part* beside it, with its decisions of now. `RuleBook.merge_sites` then puts
the parts into the book, which may have changed meanwhile, as one run of all sites would.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from os import PathLike, fspath
from pathlib import PurePath

from scrapy_dust import __version__
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import safe_files
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.document import Document, render
from scrapy_dust.rule_book.entries import Entry

#: The key of a file that is a part and no book.
KEY = "shard"

_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The sites that one process mines."""

    number: int  #: from 1 on
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise ValueError(f"there is no shard {self.number} of {self.count}")

    def has(self, site: str) -> bool:
        """Whether *site* belongs to this shard."""
        digest = blake2b(site.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest) % self.count == self.number - 1

    def path_of_part(self, path: str | PathLike[str]) -> str:
        """The path at which this shard keeps what others keep at *path*: ``rules.json`` → ``rules.2-of-4.json``."""
        # Of text: a path may be a URI.
        suffix = PurePath(path).suffix
        stem = fspath(path).removesuffix(suffix)
        return f"{stem}.{self.number}-of-{self.count}{suffix}"

    def share_of_budget(self, budget: int) -> int:
        """This shard's share of *budget* fetches, at least one."""
        return budget and max(1, budget // self.count + (self.number <= budget % self.count))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def shard_of(text: str) -> Shard:
    """The shard that *text*, such as ``2/4``, names. Raises `ValueError`."""
    match = _SHARD.fullmatch(text)
    try:
        return Shard(*map(int, match.groups() if match else (0, 0)))
    except ValueError:
        raise ValueError(
            f"--shard takes I/N, such as 2/4 for the second of four parts of the sites; got {text!r}."
        ) from None


def write_part(path: str, shard: Shard, decided: Mapping[str, Sequence[Entry]]) -> None:
    """Write the part of *shard* to *path*. *decided*: its decisions by site. Raises `RuleBookError`."""
    sites = {site: tuple(entries) for site, entries in decided.items() if entries}
    content = render(Document(sites, {KEY: str(shard)}), f"scrapy-dust {__version__}")
    with safe_files.lock(path) as file:
        safe_files.replace(file, content)


def shard_in(path: str, part: RuleBook) -> Shard | None:
    """The shard whose part the file at *path* is; None if it is a rule book. Raises `RuleBookError`."""
    said = part.document.extra.get(KEY)
    try:
        return None if said is None else shard_of(str(said))
    except ValueError:
        raise RuleBookError(path, f"'{KEY}' must be such as '2/4', got {said!r}.") from None


def shards_in(parts: Mapping[str, RuleBook]) -> tuple[Shard, ...]:
    """The shards of *parts*, by path; empty if all are rule books. Raises `RuleBookError` if the parts do not fit together."""
    shards: dict[Shard, str] = {}
    for path, part in parts.items():
        shard = shard_in(path, part)
        if shard is None:
            continue
        if shard in shards:
            raise RuleBookError(path, f"is of shard {shard}, as {shards[shard]} is. Name one of them.")
        strange = next((site for site in part.sites if not shard.has(site)), None)
        if strange is not None:
            raise RuleBookError(path, f"is of shard {shard}, to which the site {strange!r} does not belong.")
        shards[shard] = path
    if len({shard.count for shard in shards}) > 1:
        raise RuleBookError(path, "is of another number of shards than the first. Mine the log again.")
    if shards and len(shards) < len(parts):
        raise RuleBookError(path, "parts of shards and rule books cannot be merged at once. Name the parts.")
    return tuple(shards)


def missing_of(shards: Sequence[Shard]) -> tuple[Shard, ...]:
    """The shards that are missing among *shards*, which all have one count."""
    count = shards[0].count if shards else 0
    return tuple(shard for number in range(count) if (shard := Shard(number + 1, count)) not in shards)
