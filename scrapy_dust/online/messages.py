"""The messages between a crawl and the process that learns beside it: pickled, each with its length before it."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scrapy_dust.believe.reach import Shown
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings

LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Worth:
    """URLs that are worth another fetch."""

    urls: Sequence[str]
    least: int  #: so many such fetches of the crawl are worth it in any case


NOTHING_WORTH = Worth((), 0)


@dataclass(frozen=True, slots=True)
class Finding:
    """The process to the crawl: the rules that a site goes by from now on."""

    site: str
    rules: Sequence[Rule]  #: in force
    likely: Sequence[Rule]  #: to be decided
    #: How far, by what rules do, each was seen to hold.
    held: Mapping[str, Shown] = field(default_factory=dict)
    refuted: Sequence[str] = ()  #: ids of rules that were in force, and merge different pages as is seen now
    again: Worth = NOTHING_WORTH  #: URLs of which another fetch would say most
    led: Sequence[Rule] = ()  #: those of the likely rules that redirects declare


@dataclass(frozen=True, slots=True)
class Begin:
    """The crawl to the process, first: the log, the settings, and the rules in force."""

    log: str  #: the path
    settings: DustSettings
    state: str  #: the folder of what the project's sites have shown
    logs: Sequence[str] = ()  #: earlier ones of the same job
    rules: Mapping[str, Sequence[Rule]] = field(default_factory=dict)  #: in force since then, by site


@dataclass(frozen=True, slots=True)
class Refuted:
    """The crawl to the process: this rule is false."""

    site: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class Decide:
    """The crawl to the process: only waiting requests are left; look at everything, and say when that is done."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The process to the crawl: the rules were tried on the log until time ran out."""


@dataclass(frozen=True, slots=True)
class Compare:
    """The crawl to the process: did this canary show the same as its keeper? Both are in the log, or come next."""

    canary: str
    keeper: str


@dataclass(frozen=True, slots=True)
class Compared:
    """The process to the crawl: whether the canary of a `Compare` showed the page of its keeper, by the log."""

    canary: str
    is_same: bool  #: and no page that other classes show too. False: the log cannot tell


def to_message(content: object) -> bytes:
    """*content* as bytes to send."""
    packed = pickle.dumps(content)
    return LENGTH.pack(len(packed)) + packed


def messages_in(heard: bytearray) -> Iterator[object]:
    """Take the complete messages out of *heard*."""
    while len(heard) >= LENGTH.size:
        (length,) = LENGTH.unpack_from(heard)
        if len(heard) < LENGTH.size + length:
            return
        content = bytes(heard[LENGTH.size : LENGTH.size + length])
        del heard[: LENGTH.size + length]
        yield pickle.loads(content)  # noqa: S301  From our own process.
