"""Saves the findings about each mined site that help other sites and later runs: how edits fared, and which places of
pages change.

Both kinds are in files with all sites, so that some hundred sites are saved at a time, and the rest at the end,
however a run ends.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from scrapy_dust.errors import RuleBookError
from scrapy_dust.propose.edits.pooling import Tallies
from scrapy_dust.rule_book import priors, volatile_places
from scrapy_dust.rule_book.shards import Shard

#: Pages of a site, from which on it has something to say about others.
_TELLING = 100
#: Sites that are saved at a time.
_BATCH = 200


class FindingsSaver:
    """Saves findings about sites in the folder *state*; None: nowhere. *shard*: of the run."""

    def __init__(self, state: Path | None, shard: Shard | None = None) -> None:
        self._state, self._shard = state, shard
        self._tallies: dict[str, Tallies] = {}
        self._places: dict[str, volatile_places.Site] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._save()

    def add(self, site: str, pages: int, tallies: Tallies, places: volatile_places.Site | None) -> None:
        """Take the findings about *site*, of which the log has so many *pages*: how edits fared, and *places* that change."""
        if self._state is None:
            return
        if pages >= _TELLING:
            self._tallies[site] = tallies
        if places is not None:
            self._places[site] = places
        if len(self._tallies) + len(self._places) >= _BATCH:
            self._save()

    def _save(self) -> None:
        """Save all findings that were taken since the last time, as far as the files can be written."""
        if self._state is None:
            return
        # What cannot be saved costs later sites a little evidence, or is learned again.
        with suppress(RuleBookError):
            priors.save_priors(self._state, self._tallies, shard=self._shard)
        with suppress(RuleBookError):
            volatile_places.save_places(self._state, self._places)
        self._tallies, self._places = {}, {}
