"""Rules of other programs that are about a part of a site: edits with a guard, where the guard can say the part.

What is said may be narrower than what was meant, and is never wider: ``/dp`` is the segment, and not ``/dpx`` too.
"""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.guards import Condition, Guard
from scrapy_dust.dust.edits.queries import DropParameter, DropQuery, KeepParameters
from scrapy_dust.dust.rules import ParameterRule, Rule
from scrapy_dust.exchange.travelling import whole_site
from scrapy_dust.sites import site_of


@dataclass(frozen=True, slots=True)
class Part:
    """URLs of a site for which all conditions of one of the guards hold; without any, all of it."""

    site: str
    guards: tuple[Guard, ...] = ()

    def without(self, name: str) -> list[Rule]:
        """The rules that leave a parameter out."""
        if not self.guards:
            return [ParameterRule(name)]
        return [Edit((DropParameter(name),), guard) for guard in self.guards]

    def with_only(self, names: frozenset[str]) -> list[Rule]:
        """The rules that leave all other parameters out."""
        operation = KeepParameters(names) if names else DropQuery()
        return [Edit((operation,), guard) for guard in self.guards or ((),)]


def part_of_pattern(pattern: str) -> Part | None:
    """What ``host`` or ``host/path`` means to url-matcher: a host with those below it, or without but for www."""
    host, slash, path = pattern.partition("/")
    site = site_of(f"http://{host}/")
    if site is None or whole_site(site) != site or host != host.lower() or any(c in pattern for c in "?#|"):
        return None
    if not slash:
        return Part(site) if host == site else Part(site, ((Condition("host", host),),))
    conditions = path_conditions(f"/{path}")
    if conditions is None:
        return None
    return Part(site, tuple((Condition("host", name), *conditions) for name in (host, f"www.{host}")))


def path_conditions(prefix: str) -> Guard | None:
    """What holds for paths that begin so; ``*`` as a whole segment is any one. None where it cannot be said."""
    segments = prefix.split("/")[1:]
    if not segments or any("*" in segment and segment != "*" for segment in segments):
        return None
    found = [
        Condition(f"/{place}", None if segment == "*" else segment)
        for place, segment in enumerate(segments, start=1)
        if segment
    ]
    if segments[-1] == "" and len(segments) > 1:
        found.append(
            Condition(f"/{len(segments)}")
        )  # what ends with a slash has something after it, if only ""
    return tuple(found) if "" not in segments[:-1] and len(found) <= 8 else None
