"""Takes over the end of a site's trials from an earlier run, where nothing is new: the site is neither mined nor tried, and its
pages are not read.

Where nothing may be fetched, the log decides. Then the end is taken over if the site's records are the same, and all else that
mining and trials go by: settings, code, places that are known to change, entries of the rule book, earlier verdicts, names of
places, and what other sites say of edits. So the first run after one that has decided something tries the site again, by the
rules that are in force now.

With fetches, a site at rest has nothing to decide (`Rest`). Whether it is at rest is told by the records as well, once a run
has read what they say. A site that has nothing to try is taken over in the other way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from scrapy_dust.engines.figures import Figures, figures_of
from scrapy_dust.engines.input_digests import digest_of
from scrapy_dust.engines.kept_results import Keeping, Part
from scrapy_dust.engines.laps import Laps
from scrapy_dust.engines.local import Mined
from scrapy_dust.engines.remembering import Remembered, is_told_the_same, remembered_in
from scrapy_dust.engines.side_by_side import Site
from scrapy_dust.page.places import Names
from scrapy_dust.page.site_log import comparison_of
from scrapy_dust.page.volatile import NOTHING_VOLATILE
from scrapy_dust.propose.edits.pooling import Pool, Tallies
from scrapy_dust.rule_book import volatile_places
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Status
from scrapy_dust.rule_book.priors import all_priors
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.rules.json_rules import content_of
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.ended import Ended
from scrapy_dust.trials.rest import Rest, settings_of_trials
from scrapy_dust.trials.site_results import SiteResult, result_from_bytes, result_to_bytes


@dataclass(frozen=True, slots=True)
class Taken:
    """A site that was taken over from an earlier run."""

    figures: Figures
    tallies: Tallies  #: what it shows of edits, for other sites
    places: volatile_places.Site | None  #: that are known to change
    ended: Ended | None  #: None: it has nothing to try

    @property
    def parts(self) -> list[Part]:
        """The parts of its results that stay on the disk as they are."""
        return [Part(self.figures.site, part, "", None) for part in _PARTS]


#: The parts of a site's results that an earlier run may have kept.
_PARTS = ("rules", "edits", "ended", "rest")
#: Keeps what later runs need in order to take a site over: see `TakingOver.parts_of`.
Keep = Callable[[Mined, Ended | None, Rest | None], None]


def taking_over(
    state: Path,
    settings: DustSettings,
    book: RuleBook,
    verdicts: Verdicts,
    names: Names,
    *,
    by_log: bool,
    saves: bool,
) -> TakingOver | None:
    """The `TakingOver` of one run; None where a network learns from the log of each site.

    *state*: the folder with the results that earlier runs have kept; *names*: of the places of units in the logs; *by_log*:
    nothing may be fetched; *saves*: sites are kept for later runs.
    """
    if settings.learner == "seq2seq":
        return None
    remembered = remembered_in(state, settings, redirects_count=True)
    places = volatile_places.known_places(state).sites
    return TakingOver(remembered, settings, book, verdicts, all_priors(state), names, by_log, saves, places)


@contextmanager
def keeper(taking: TakingOver | None) -> Iterator[Keep]:
    """A function that keeps what *taking* needs in later runs; one that does nothing if no site is kept."""
    if taking is None or not taking.saves:
        yield lambda _mined, _ended, _rest: None
        return
    with Keeping(taking.remembered.memory) as keeping:
        yield lambda mined, ended, rest: keeping.add(taking.parts_of(mined, ended, rest))


@dataclass(slots=True)
class TakingOver:
    """The sites of one run that are taken over, in the order of all its sites."""

    remembered: Remembered
    settings: DustSettings
    book: RuleBook
    verdicts: Verdicts
    pool: Pool
    names: Names
    by_log: bool  #: nothing may be fetched
    saves: bool  #: for later runs
    places: Mapping[str, volatile_places.Site]
    ends: dict[str, Ended] = field(default_factory=dict)  #: of sites that were taken over
    figures: list[Figures] = field(default_factory=list)  #: of the same
    _turns: dict[str, int] = field(default_factory=dict)
    _keys: dict[str, dict[str, str]] = field(default_factory=dict)  #: of each site, by part
    _waiting: deque[Taken] = field(default_factory=deque)

    def left(self, sites: Iterable[Site]) -> Iterator[Site]:
        """The *sites* that have to be mined; the others are taken over, and wait for their turn in `before`."""
        for site, visits, share in sites:
            self._turns[site] = len(self._turns)
            clock = Laps()
            records = self.remembered.circumstances.key_of_visits(site, visits, share)
            keys = self._keys[site] = {"ended": self._key_of_end(site, records)}
            if not self.by_log:
                keys["rest"] = records
            parts = self.remembered.memory.find(site, keys)
            found = map(result_from_bytes, parts.values())
            taken = next((taken for one in found if one and (taken := self._taken_over(one))), None)
            if taken is None:
                yield site, visits, share
                continue
            clock.lap("remembered")
            self._waiting.append(replace(taken, figures=replace(taken.figures, laps=clock.laps)))

    def before(self, site: str | None) -> Iterator[Taken]:
        """The sites taken over whose turn was before that of *site*; None: all that are left."""
        while self._waiting and (
            site is None or self._turns[self._waiting[0].figures.site] < self._turns[site]
        ):
            taken = self._waiting.popleft()
            self.figures.append(taken.figures)
            if taken.ended is not None:
                self.ends[taken.figures.site] = taken.ended
            yield taken

    def in_turn(self, trials: Iterable[Ended]) -> list[Ended]:
        """The ends of *trials* and those taken over, in the order of all sites."""
        return sorted([*trials, *self.ends.values()], key=lambda one: self._turns[one.site])

    def parts_of(self, mined: Mined, ended: Ended | None, rest: Rest | None) -> Iterator[Part]:
        """The result of *mined* for later runs, if they can take it over. *ended*: the end of its trials, where the
        log alone decides; *rest*: when the site is at rest, where it may be fetched.
        """
        before = self.places.get(mined.site, volatile_places.Site())
        comparison = comparison_of(mined.log)
        learned = NOTHING_VOLATILE if comparison is None else comparison.knowledge.volatile
        if not (rest or volatile_places.is_known(before, volatile_places.Site(learned))):
            return  # the next run will compare its pages otherwise
        found = SiteResult(
            replace(figures_of(mined), laps={}, taken_over=frozenset()),
            mined.tallies,
            {} if rest else mined.asked,
            tuple((place, self.names.get(place)) for place in comparison.places)
            if comparison and not rest
            else (),
            bool(learned),
            rest.said if rest else None,
            ended,
        )
        content, part = result_to_bytes(found), "rest" if rest else "ended"
        if content is not None:
            yield Part(mined.site, part, self._keys[mined.site][part], content)

    def _key_of_end(self, site: str, records: str) -> str:
        """A digest of all that the log decides of *site* by, beside what other sites say. *records*: that of its records."""
        entries = [
            (content_of(one.rule), str(one.status), one.evidence.support) for one in self.book.entries(site)
        ]
        past = [
            (content_of(rule), str(one.verdict), one.tally.contradictions)
            for rule, one in self.verdicts.of_site(site).items()
        ]
        changing = volatile_places.site_json(self.places[site]) if site in self.places else None
        return digest_of([records, self.by_log, settings_of_trials(self.settings), changing, entries, past])

    def _taken_over(self, found: SiteResult) -> Taken | None:
        """The site of *found*, taken over; None if *found* does not hold in this run."""
        site, ended = found.figures.site, found.ended
        places = self.places.get(site)
        if found.said is None:
            named = all(self.names.get(place) == name for place, name in found.names)
            if not named or not is_told_the_same(self.pool.without(site), found.asked):
                return None
        else:
            ended = self._end_at_rest(site, found.said)
            if ended is None or (found.changes and places is None):
                return None
        parts = frozenset(("rules", "edits", "trials"))
        return Taken(replace(found.figures, taken_over=parts), found.tallies, places, ended)

    def _end_at_rest(self, site: str, said: str) -> Ended | None:
        """The end of the trials of *site*, which is at rest: nothing new is decided. None if it is not at rest.
        *said*: a digest of its log.
        """
        rest = Rest(site, said, self.settings)(self.book, self.verdicts)
        if self.verdicts.rests.get(site) != rest:
            return None
        standing = sum(one.status is Status.VALID for one in self.book.entries(site))
        # If the book changes before the run ends, the next run tries the site.
        return Ended(site, is_settled=True, standing=standing, rest=lambda _book, _verdicts: rest)
