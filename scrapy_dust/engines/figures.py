"""The numbers of the mining of one site, which the end of a run prints after the site's log has been let go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scrapy_dust.engines.laps import Lap
from scrapy_dust.engines.local import Mined

#: The parts of a result that mining finds by itself.
_MINED = frozenset(("rules", "edits"))


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers of one site."""

    site: str
    pages: int  #: in the log
    likely: int
    kept: int
    parameters: int
    edits: int
    too_long: int = 0  #: URLs that were not looked at
    share: float = 1.0  #: of the site's URLs that were mined
    says_taken: bool = False  #: the log tells what a spider took
    laps: Mapping[str, Lap] = field(default_factory=dict)  #: what each phase took
    #: What an earlier run had found: ``rules``, ``edits``, ``trials``.
    taken_over: frozenset[str] = frozenset()

    @property
    def is_taken_over(self) -> bool:
        """Whether an earlier run had found all that mining would find."""
        return self.taken_over >= _MINED


def figures_of(mined: Mined) -> Figures:
    """The numbers to print of a mined site."""
    return Figures(
        mined.site,
        len(mined.log.pages),
        len(mined.likely),
        len(mined.elimination.kept),
        len(mined.parameters),
        len(mined.edits),
        mined.too_long,
        mined.share,
        any(page.core for page in mined.log.pages),
        mined.laps,
        mined.taken_over,
    )
