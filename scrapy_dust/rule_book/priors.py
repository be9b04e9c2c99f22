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

#: Sites that are kept, the newest, and kinds of edits of each, those with most evidence: some 2 MB.
_SITES, _KINDS = 500, 100


@cache
def priors_of_package() -> Pool:
    """The prior beliefs about edits that come with the package."""
    return Pool(_state_file(None).parse_values((resources("scrapy_dust.rule_book") / FILE).read_bytes()))


def priors_of_project(state: str | PathLike[str]) -> Pool:
    """The project's own prior beliefs: how often edits proved right on its sites. Empty where the file is missing or damaged."""
    return Pool(_state_file(None).read_values(state)[0])


def all_priors(state: str | PathLike[str] | None = None) -> Pool:
    """All prior beliefs about edits: those of the package and those of the project, whose folder of state is *state*."""
    return priors_of_package() if state is None else priors_of_package() | priors_of_project(state)


def save_priors(
    state: str | PathLike[str], found: Mapping[str, Tallies], *, shard: Shard | None = None
) -> None:
    """Save the evidence about edits that sites gave, in the place of their earlier evidence. Raises `RuleBookError`.

    A *shard* saves it in a file of its own until `add_priors_of_shard`: a shard that begins later must not know more than the
    others.
    """
    if found:
        _state_file(shard).change(
            state, lambda old: {site: old[site] for site in old if site not in found} | dict(found)
        )


def add_priors_of_shard(state: str | PathLike[str], shard: Shard) -> None:
    """Add the evidence that *shard* has saved apart to the project's file of prior beliefs. Raises `RuleBookError`."""
    file = _state_file(shard)
    found, _ = file.read_values(state)
    if found:
        save_priors(state, found)
        (Path(state) / file.name).unlink(missing_ok=True)


def _state_file(shard: Shard | None) -> StateFile[Tallies]:
    """The file of prior beliefs of a project, or of one *shard* of it."""
    return StateFile(
        FILE if shard is None else shard.path_of_part(FILE), FORMAT, _parse_site, _site_json, _SITES
    )


def package_file(sites: Mapping[str, Tallies], sources: Mapping[str, object]) -> bytes:
    """The bytes of the package's file. *sources*: the crawl that the evidence of each site was counted on."""
    rows = {site: {"from": sources.get(site), **_site_json(tallies)} for site, tallies in sites.items()}
    return dump_json({"format": FORMAT, "sites": rows}, indent=1)


def _site_json(tallies: Tallies) -> dict[str, object]:
    return {"kinds": {kind: _tally_json(tallies[kind]) for kind in sorted(_kinds_worth_saving(tallies))}}


def _kinds_worth_saving(tallies: Tallies) -> list[str]:
    """The kinds of edits that tell something about other sites, those with most evidence first."""
    found = [kind for kind, tally in tallies.items() if tally.laws or tally.accidents or "→" in kind]
    return sorted(found, key=lambda kind: (-tallies[kind].held - tallies[kind].failed, kind))[:_KINDS]


def _tally_json(tally: Tally) -> list[float]:
    return [round(value, 4) for value in astuple(tally)]


def _parse_site(block: Block) -> Tallies:
    kinds = Block(block.take("kinds"), "'kinds'")
    return {kind: _parse_tally(kinds.items(kind)) for kind in list(kinds.rest())}


def _parse_tally(row: list[object]) -> Tally:
    match row:
        case [int(), int(), int() | float(), int(), int(), int() | float()]:
            return Tally(*row)  # type: ignore[arg-type]
        case _:
            raise Damaged("one of its rows has no counts")
