"""Profiles of sites: statistics of a site's URLs at the time its rules were learned, in a file of state
beside the logs.

Losing it costs a warning that a crawl might have given. So a damaged one is no error; it is begun anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path

from scrapy_dust.believe.staleness import Profile
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import files
from scrapy_dust.rules.blocks import Block, Damaged, dump_json, load_json

FORMAT = 1
FILE = "profiles.json"

#: Sites that are kept, the newest.
_SITES = 2000


def known(state: str | PathLike[str]) -> dict[str, Profile]:
    """The profiles by site, as far as the file can be read."""
    try:
        content = files.read(fspath(Path(state) / FILE))
        return {} if content is None else _parse(content)
    except (Damaged, RuleBookError):
        return {}


def remember(state: str | PathLike[str], profiles: Mapping[str, Profile]) -> None:
    """Keep *profiles*, each in the place of an older one. Raises `RuleBookError`."""
    files.make_folder(Path(state))
    with files.lock(fspath(Path(state) / FILE)) as file:
        before = {site: one for site, one in known(state).items() if site not in profiles}
        newest = dict([*before.items(), *profiles.items()][-_SITES:])
        rows = {site: _row(one) for site, one in newest.items()}
        files.replace(file, dump_json({"format": FORMAT, "sites": rows}))


def _row(one: Profile) -> dict[str, object]:
    names = sorted(one.names) if one.has_names else None
    return {"urls": one.urls, "names": names, "uses": dict(sorted(one.uses.items()))}


def _parse(content: bytes) -> dict[str, Profile]:
    file = Block(load_json(content), "the file")
    found = file.count("format")
    if found != FORMAT:
        raise Damaged(f"it has format {found}; this version reads {FORMAT}")
    sites = Block(file.take("sites"), "'sites'")
    return {site: _of_site(Block(sites.take(site), repr(site))) for site in list(sites.rest())}


def _of_site(block: Block) -> Profile:
    names, uses = block.take("names"), Block(block.take("uses"), "'uses'")
    if names is not None and not isinstance(names, list):
        raise Damaged("'names' is no list")
    return Profile(
        block.count("urls"),
        frozenset(map(str, names or ())),
        {identity: uses.count(identity) for identity in list(uses.rest())},
        names is not None,
    )
