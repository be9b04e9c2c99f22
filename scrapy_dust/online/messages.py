"""What a crawl and the process that learns beside it say to each other: pickled, each with its length before it."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scrapy_dust.dust.reach import Shown
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings

LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a crawl goes by on a site from now on."""

    site: str
    rules: Sequence[Rule]  #: in force
    likely: Sequence[Rule]  #: to be decided
    held: Mapping[str, Shown] = field(
        default_factory=dict
    )  #: how far, by what rules do, each was seen to hold
    refuted: Sequence[str] = ()  #: ids of rules that were in force, and merge different pages as is seen now


@dataclass(frozen=True, slots=True)
class Begin:
    """What a crawl says first."""

    log: str  #: the path
    settings: DustSettings
    state: str  #: the folder of what the project's sites have shown
    logs: Sequence[str] = ()  #: earlier ones of the same job
    rules: Mapping[str, Sequence[Rule]] = field(default_factory=dict)  #: in force since then, by site


@dataclass(frozen=True, slots=True)
class Refuted:
    """A rule that the crawl has found to be false."""

    site: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class Decide:
    """Nothing but what waits is left: look at all that there is to see, and say when that is done."""


@dataclass(frozen=True, slots=True)
class Decided:
    """It is, as far as there was time."""


@dataclass(frozen=True, slots=True)
class Compare:
    """A canary has come. Did it show what its keeper had shown? Both are in the log, or come there next."""

    canary: str
    keeper: str


@dataclass(frozen=True, slots=True)
class Compared:
    """What the log says to that."""

    canary: str
    is_same: bool  #: and no page that other classes show too. False: the log cannot tell


def to_message(content: object) -> bytes:
    packed = pickle.dumps(content)
    return LENGTH.pack(len(packed)) + packed


def messages_in(heard: bytearray) -> Iterator[object]:
    """The whole ones, taken off."""
    while len(heard) >= LENGTH.size:
        (length,) = LENGTH.unpack_from(heard)
        if len(heard) < LENGTH.size + length:
            return
        content = bytes(heard[LENGTH.size : LENGTH.size + length])
        del heard[: LENGTH.size + length]
        yield pickle.loads(content)  # noqa: S301  From our own process.
