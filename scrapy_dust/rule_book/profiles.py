"""Profiles of sites, in a file of state beside the logs: statistics of a site's URLs at the time its rules were learned."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from scrapy_dust.believe.site_profile import Profile
from scrapy_dust.rule_book.state_files import StateFile
from scrapy_dust.rules.strict_json import Block, Damaged

FILE = "profiles.json"


def known_profiles(state: str | PathLike[str]) -> dict[str, Profile]:
    """The profiles by site, as far as the file can be read."""
    return _FILE.read_values(state)[0]


def save_profiles(state: str | PathLike[str], profiles: Mapping[str, Profile]) -> None:
    """Save *profiles* by site, each in the place of an older one. Raises `RuleBookError`."""
    _FILE.change(
        state, lambda old: {site: one for site, one in old.items() if site not in profiles} | dict(profiles)
    )


def _profile_json(one: Profile) -> dict[str, object]:
    names = sorted(one.names) if one.has_names else None
    return {"urls": one.urls, "names": names, "uses": dict(sorted(one.uses.items()))}


def _parse_profile(block: Block) -> Profile:
    names, uses = block.take("names"), Block(block.take("uses"), "'uses'")
    if names is not None and not isinstance(names, list):
        raise Damaged("'names' is no list")
    return Profile(
        block.count("urls"),
        frozenset(map(str, names or ())),
        {identity: uses.count(identity) for identity in list(uses.rest())},
        names is not None,
    )


_FILE = StateFile(FILE, 1, _parse_profile, _profile_json)
