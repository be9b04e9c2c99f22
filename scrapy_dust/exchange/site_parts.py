"""Rules of other programs for a part of a site, turned into rules with a guard, if a guard can express the part.

A guard may cover less than the program's pattern, and never covers more: ``/dp`` is the segment, and not ``/dpx``
too. For these programs only & separates parameters, so that a URL with a parameter after a ; stays as it is;
`Collected.leave_queries` reports that.
"""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_dust.exchange.transfer import BY_AMPERSAND, whole_site
from scrapy_dust.rules.guards import Condition, Guard
from scrapy_dust.rules.operation import Operation
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.queries import DropQuery, KeepParameters
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of


@dataclass(frozen=True, slots=True)
class Part:
    """The URLs of a site for which one of the guards holds; without guards, all URLs of the site."""

    site: str
    guards: tuple[Guard, ...] = ()

    def without(self, name: str) -> list[Rule]:
        """The rules that leave the parameter *name* out in this part of the site."""
        return self._rules(DropParameter(name))

    def with_only(self, names: frozenset[str]) -> list[Rule]:
        """The rules that leave out all parameters but *names* in this part of the site."""
        return (
            self._rules(KeepParameters(names))
            if names
            else [Rule((DropQuery(),), guard) for guard in self.guards or ((),)]
        )

    def _rules(self, operation: Operation) -> list[Rule]:
        """The rules that make the change *operation* in this part of the site, one for each of its guards."""
        return [Rule((operation,), (*guard, BY_AMPERSAND)) for guard in self.guards or ((),)]


def part_of_pattern(pattern: str) -> Part | None:
    """The part of a site that a url-matcher pattern such as ``host`` or ``host/path`` means."""
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
    """The guard for paths with the given beginning, in which ``*`` is any segment; None where no guard can say it."""
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
