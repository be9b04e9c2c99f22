"""Prior beliefs about edits: how often edits of each kind proved right, site by site.

The beliefs in the package were counted on crawls of real web applications by ``python -m benchmarks.priors``; the
file lists these. A project's own sites add to a file of state beside its logs, which counts before the package's. The
file has names of parameters and counts, no URLs. A damaged file is no error: it is begun anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from functools import cache
from importlib.resources import files as resources
from os import PathLike
from pathlib import Path

from scrapy_dust.propose.edits.pooling import Pool, Tallies, Tally
from scrapy_dust.rule_book.shards import Shard
from scrapy_dust.rule_book.state_files import StateFile
from scrapy_dust.rules.strict_json import Block, Damaged, dump_json

FORMAT = 1
FILE = "priors.json"

#: Sites that are kept, the newest, of kinds the most telling: some 2 MB.
_SITES, _KINDS = 500, 100


@cache
def shipped() -> Pool:
    """The prior beliefs about edits that come with the package."""
    return Pool(_of_shard(None).parsed((resources("scrapy_dust.rule_book") / FILE).read_bytes()))


def own(state: str | PathLike[str]) -> Pool:
    """The project's own prior beliefs: how often edits proved right on its sites. Empty where the file is missing or damaged."""
    return Pool(_of_shard(None).known(state)[0])


def known(state: str | PathLike[str] | None = None) -> Pool:
    """All prior beliefs about edits: those of the package and those of the project, whose folder of state is *state*."""
    return shipped() if state is None else shipped() | own(state)


def remember(state: str | PathLike[str], site: str, tallies: Tallies, *, shard: Shard | None = None) -> None:
    """Save the evidence about edits that *site* gave, in the place of its earlier evidence. Raises `RuleBookError`.

    A *shard* saves it in a file of its own until `take_in`: a shard that begins later must not know more than the
    others.
    """
    _add(state, {site: tallies}, shard)


def take_in(state: str | PathLike[str], shard: Shard) -> None:
    """Add the evidence that *shard* has saved apart to the project's file of prior beliefs. Raises `RuleBookError`."""
    file = _of_shard(shard)
    found, _ = file.known(state)
    if found:
        _add(state, found)
        (Path(state) / file.name).unlink(missing_ok=True)


def _add(state: str | PathLike[str], found: Mapping[str, Tallies], shard: Shard | None = None) -> None:
    _of_shard(shard).change(
        state, lambda old: {site: kinds for site, kinds in old.items() if site not in found} | dict(found)
    )


def _of_shard(shard: Shard | None) -> StateFile[Tallies]:
    return StateFile(FILE if shard is None else shard.of_path(FILE), FORMAT, _of_site, _written, _SITES)


def content_of(sites: Mapping[str, Tallies], sources: Mapping[str, object]) -> bytes:
    """The bytes of the package's file. *sources*: the crawl that the evidence of each site was counted on."""
    rows = {site: {"from": sources.get(site), **_written(tallies)} for site, tallies in sites.items()}
    return dump_json({"format": FORMAT, "sites": rows}, indent=1)


def _written(tallies: Tallies) -> dict[str, object]:
    return {"kinds": {kind: _row(tallies[kind]) for kind in sorted(_telling(tallies))}}


def _telling(tallies: Tallies) -> list[str]:
    found = [kind for kind, tally in tallies.items() if tally.laws or tally.accidents or "→" in kind]
    return sorted(found, key=lambda kind: (-tallies[kind].held - tallies[kind].failed, kind))[:_KINDS]


def _row(tally: Tally) -> list[float]:
    return [round(value, 4) for value in astuple(tally)]


def _of_site(block: Block) -> Tallies:
    kinds = Block(block.take("kinds"), "'kinds'")
    return {kind: _tally(kinds.items(kind)) for kind in list(kinds.rest())}


def _tally(row: list[object]) -> Tally:
    match row:
        case [int(), int(), int() | float(), int(), int(), int() | float()]:
            return Tally(*row)  # type: ignore[arg-type]
        case _:
            raise Damaged("one of its rows has no counts")
