"""The work of ``scrapy dustmine``: it reads logs, mines them, validates rules, writes the rule book, and
reports.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from scrapy.settings import Settings
from scrapy.utils.project import inside_project

from scrapy_dust.commands.collected_figures import CollectedFigures, without_log
from scrapy_dust.commands.progress import Progress, may_ask
from scrapy_dust.commands.results import (
    Result,
    phases_of,
    print_as_json,
    print_result,
    print_rules,
    profile_table,
)
from scrapy_dust.commands.suggestions import remedy
from scrapy_dust.crawl_log import log_dir, log_sources
from scrapy_dust.crawl_log.log_upkeep import keep_of, move_and_compact_logs
from scrapy_dust.engines.figures import Figures
from scrapy_dust.engines.gathering import Shelved, records_of
from scrapy_dust.engines.laps import Lap, Laps
from scrapy_dust.engines.local import Mined
from scrapy_dust.engines.side_by_side import look_seldom_for_garbage
from scrapy_dust.errors import CrawlLogError, DustError, ReportError
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.safe_files import in_project, is_uri, lock
from scrapy_dust.rule_book.shards import Shard
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.stopping import Poll, Stopped
from scrapy_dust.trials.affording import afforded
from scrapy_dust.trials.concluding import conclude, with_decisions
from scrapy_dust.trials.duration import warning
from scrapy_dust.trials.ended import Ended, ended
from scrapy_dust.trials.interruption import Interruption, InterruptionOfProcess, as_keyboard_interrupt
from scrapy_dust.trials.journal import ProbeJournal, probes_path
from scrapy_dust.trials.learning import NOTHING_FETCHED, decided_from_log, mine, on_another_log, prepare
from scrapy_dust.trials.reading import Read, Source, read
from scrapy_dust.trials.site_trials import SiteTrials
from scrapy_dust.trials.spending import Spent, progress_of
from scrapy_dust.trials.taking_over import TakingOver, taking_over
from scrapy_dust.visits.pages import Visit

_NOTHING_TRIED = "interrupted before any rule was tried; the rule book is as it was."


def own_logs(settings: DustSettings, spider: str | None) -> list[str]:
    """The project's own logs. Raises `ValueError` outside of a project, `CrawlLogError` where there is none yet."""
    if settings.dir is None and not inside_project():
        raise ValueError("no LOG given, and this is no Scrapy project with a log of its own.")
    found = log_sources(settings.dir, spider)
    if not found:
        raise CrawlLogError(
            settings.dir or str(log_dir(None)),
            "there is no crawl log yet. Run `scrapy crawl` with scrapy-dust on, or name a LOG.",
        )
    return found


@dataclass(frozen=True, slots=True)
class Job:
    """One run of ``scrapy dustmine``."""

    project: Settings
    settings: DustSettings
    logs: Sequence[str]  #: as named; none: the project's own
    opts: argparse.Namespace
    shard: Shard | None = None

    def run(self) -> None:
        """Do the run. Raises `DustError` where that cannot be done."""
        look_seldom_for_garbage()
        opts, progress, clock = (
            self.opts,
            Progress(sys.stderr, self.settings.min_support),
            Laps(since_start=True),
        )
        if opts.phase == "valid":
            self._check_files()
        interruption, texts = InterruptionOfProcess(), dict[str, Sequence[str]]()
        with ExitStack() as stack:
            try:
                with as_keyboard_interrupt():
                    other = self._validation_log(progress)
                    found, sites, taking = self._read_and_mine(progress, clock)
                    if opts.phase != "valid":
                        self._print_found(sites, progress, clock)
                        return
                    collected = CollectedFigures(clock, holds=self._needs_logs)
                    tried = collected.collect(
                        one for site in sites for one in self._on_validation_log([site], other, progress)
                    )
                    if self._is_by_log:
                        decided = self._decided_by_log(tried, collected, taking, progress)
                    else:
                        journal = stack.enter_context(self._journal())
                        latest, poll = (other or found).latest, interruption.poll
                        asked, over = self._sort_trials(tried, taking, journal, latest, progress, poll)
            except KeyboardInterrupt:
                kept = f" {progress.kept}" if progress.kept and not opts.dry_run else ""
                raise DustError(f"{_NOTHING_TRIED}{kept}") from None
            stack.enter_context(interruption)
            if not self._is_by_log:
                try:
                    decided = self._validate(asked, over, collected, progress, texts, interruption)
                except Stopped:
                    raise DustError(_NOTHING_TRIED) from None
                journal.close()
                clock.lap("validate")
            trials, spent = decided
            result = Result(*_with_taken(collected.figures, trials, taking), spent)
            self._conclude(other or found, result, collected.mined, texts, progress, clock)

    def _print_found(self, sites: Iterator[Mined], progress: Progress, clock: Laps) -> None:
        """Print the rules that phase 1 or 2 has found, where the user wants no more than that."""
        # What is only printed needs no log.
        mined = [without_log(one) for one in sites]
        clock.lap("mine")
        print_rules(mined, self.opts.phase, as_json=self.opts.json)
        clock.lap("print")
        self._print_profile(mined, phases_of(mined, clock), progress)

    @property
    def _needs_logs(self) -> bool:
        """Whether the end of the run needs the logs of all sites: for a report, or for a person who may want no fetches then."""
        asks = not self._is_by_log and may_ask() and warning(self.project, self.settings) is not None
        return asks or self.opts.report is not None

    def _journal(self) -> ProbeJournal:
        """The file that keeps the answers to fetches, so that an interrupted run goes on where it was."""
        return ProbeJournal(
            probes_path(_verdicts_path(self.settings), self.shard),
            now=time.time(),
            writing=not self.opts.dry_run,
            ignore=self.settings.ignore,
        )

    def _check_files(self) -> None:
        """Check, before hours of work, that all files can be read and written."""
        self._load_book()
        if not self.opts.dry_run:
            with lock(self._path_of_book()):
                pass
        if self.opts.report:
            path = Path(self.opts.report)
            if path.is_dir():
                raise ReportError(str(path), os.strerror(errno.EISDIR))
            if not path.parent.is_dir():
                raise ReportError(str(path), os.strerror(errno.ENOENT))

    def _path_of_book(self) -> str:
        """The rule book that this run writes; for a shard, its part of the book."""
        named = in_project(self.settings.rules[0])
        return named if self.shard is None else self.shard.path_of_part(named)

    def _validation_log(self, progress: Progress) -> Read | None:
        """Read the log of ``--validate-on``, on whose URLs rules are tried; None without that option."""
        opts = self.opts
        if opts.validate_on is None or opts.phase != "valid":
            return None
        source = Source([opts.validate_on], opts.format, opts.site, opts.base_url, opts.log_format)
        other = read(source, progress)
        self._report_unread(other, progress)
        return other

    def _on_validation_log(
        self, mined: Sequence[Mined], other: Read | None, progress: Progress
    ) -> Iterable[Mined]:
        """The sites in *mined*, to be tried on the URLs of the log *other*, if there is one. Sites that it lacks are
        named.
        """
        if other is None:
            return mined
        for one in mined:
            if one.site not in other.visits:
                progress.say(f"{one.site}: not in {self.opts.validate_on}, so that its rules are not tried.")
        return on_another_log(mined, other.visits, self.settings)

    def _conclude(
        self,
        found: Read,
        result: Result,
        mined: Sequence[Mined],
        texts: Mapping[str, Sequence[str]],
        progress: Progress,
        clock: Laps,
    ) -> None:
        """Write the decisions into the rule book, the state and the report, and print them."""
        opts, trials, spent = self.opts, result.trials, result.spent
        if not opts.dry_run and (trials or self.shard):
            conclude(trials, self.settings, found.logs, _verdicts_path(self.settings), self.shard)
        if spent.interrupted:
            progress.say("Interrupted. What was fetched is kept: the same command goes on from here.")
        for site in trials:
            if site.given_up is not None:
                progress.say(f"{site.site}: left for another run, since {site.given_up}.")
        if opts.report:
            self._write_report(mined, trials, found, spent.fetches, texts)
        clock.lap("write")
        took = phases_of(result.sites, clock)
        result = replace(result, book=self._path_written())
        if opts.json:
            print_as_json(result, took)
        else:
            print_result(result)
        clock.lap("print")
        self._print_profile(result.sites, phases_of(result.sites, clock), progress)

    def _print_profile(
        self, mined: Sequence[Mined] | Sequence[Figures], took: Mapping[str, Lap], progress: Progress
    ) -> None:
        """Print how long each phase took, if the user has asked for that."""
        if not self.opts.profiled:
            return
        if any(one.taken_over for one in mined):
            whole = sum(one.is_taken_over for one in mined)
            in_part = sum(bool(one.taken_over) for one in mined) - whole
            progress.say(
                f"Taken over from an earlier run: {whole} of {len(mined)} sites in full, {in_part} in part."
            )
        for line in profile_table(took).splitlines():
            progress.say(line)

    def _read_and_mine(
        self, progress: Progress, clock: Laps
    ) -> tuple[Read, Iterator[Mined], TakingOver | None]:
        """Read the logs. Returns what was read; the sites, each of which is mined when it is asked for; and the
        collector of sites whose earlier trials still hold, if they may be taken over.
        """
        source = self._logs_to_read(progress)
        # The papers' phases are of pages alone. For rules to live by, redirects are evidence too.
        living = self.opts.phase == "valid"
        state, keep = _verdicts_path(self.settings).parent if living else None, not self.opts.dry_run
        if self.opts.engine == "spark":
            from scrapy_dust.trials.on_spark import read_and_mine  # noqa: PLC0415  Spark, where it is wanted.

            # Read there too: nothing of it is done here.
            clock.lap("read")
            found, mined = read_and_mine(
                source, self.settings, progress, redirects_count=living, state=state, keep=keep
            )
            self._report_unread(found, progress)
            return found, iter(mined), None
        limit = self.settings.memory_limit
        found = read(source, progress, most=None if limit is None else limit << 20)
        self._report_unread(found, progress)
        clock.lap("read")
        progress.begin_mining(len(found.visits), records_of(found.visits))
        taking = None if state is None else self._taking_over(found, state)
        sites = mine(
            found.visits,
            self.settings,
            progress,
            found.names,
            redirects_count=living,
            state=state,
            keep=keep,
            processes=None,
            shard=self.shard,
            taking=taking,
        )
        # Of the visits only who mines them needs more.
        return replace(found, visits={}), _closing(found.visits, sites), taking

    def _taking_over(self, found: Read, state: Path) -> TakingOver | None:
        """The `TakingOver` that spares sites of which nothing is new; None where the end of the run needs the log of each site."""
        opts, settings = self.opts, self.settings
        if opts.report or opts.validate_on is not None:
            return None
        verdicts = Verdicts.load(_verdicts_path(settings))
        keep, by_log = not opts.dry_run, self._is_by_log
        return taking_over(
            state, settings, self._load_book(), verdicts, found.names, by_log=by_log, saves=keep
        )

    def _report_unread(self, found: Read, progress: Progress) -> None:
        """Print which lines and records of the logs were not read."""
        for line in found.named:
            progress.say(f"not read: {line}")
        if found.unreadable > len(found.named):
            progress.say(f"not read: {found.unreadable - len(found.named)} more lines.")
        if not found.visits and found.of_other_shards:
            progress.say(f"these logs have no site of shard {self.shard}.")
        elif not found.visits and not self.opts.site:
            raise CrawlLogError(
                str(found.files[0]) if found.files else "the logs",
                "none of its URLs is an http(s) URL with a host. Check that it is the right file.",
            )
        if found.without_site:
            progress.say(
                f"passed over: {found.without_site} records whose URL is no http(s) URL with a host."
            )
        if found.passed_over:
            progress.say(f"passed over: {found.passed_over} lines that show no page, such as POST requests.")
        if self.opts.site and not found.visits and not found.of_other_shards:
            meant = remedy(self.opts.site, found.other_hosts)
            raise CrawlLogError(
                ", ".join(map(str, found.files[:3])),
                f"no page of the host {self.opts.site!r} is in it. {meant}".rstrip(),
            )

    def _write_report(
        self,
        mined: Sequence[Mined],
        trials: Sequence[Ended],
        found: Read,
        fetches: int,
        texts: Mapping[str, Sequence[str]],
    ) -> None:
        """Write the HTML report of this run."""
        # Nobody else needs it.
        from scrapy_dust.report.gathering import report_of  # noqa: PLC0415
        from scrapy_dust.report.page import html_of  # noqa: PLC0415

        logs = found.logs
        day = datetime.now(UTC).date().isoformat()
        book = self._load_book()
        if self.opts.dry_run or self.shard:
            # The book as it would be.
            book = with_decisions(book, trials, logs, day)
        report = report_of(
            mined,
            trials,
            book,
            self.settings,
            logs=logs,
            fetches=fetches,
            day=day,
            texts=texts,
            files=found.files,
        )
        title = mined[0].site if len(mined) == 1 else f"{len(mined)} sites"
        path = Path(self.opts.report)
        try:
            path.write_bytes(html_of(report, title))
        except OSError as error:
            raise ReportError(str(path), error.strerror or str(error)) from None

    def _path_written(self) -> str | None:
        """The path of the rule book, or of a shard's part of it, that this run has written; None where nothing was
        written.
        """
        if self.opts.dry_run:
            return None
        named = self.settings.rules[0]
        if self.shard is not None:
            return self.shard.path_of_part(named)
        path = in_project(named)
        return named if is_uri(path) or Path(path).exists() else None

    def _load_book(self) -> RuleBook:
        """Load the rule books of the project, joined."""
        return RuleBook.load([in_project(path) for path in self.settings.rules])

    def _logs_to_read(self, progress: Progress) -> Source:
        """The logs to mine, and how to read them. The project's own logs are moved and compacted first."""
        opts, logs = self.opts, self.logs
        if not logs:
            # While several processes read logs, nobody moves them.
            if opts.phase == "valid" and not opts.dry_run and self.shard is None:
                for failed in move_and_compact_logs(
                    self.settings.dir, keep_of(self.settings), compacting=True
                ):
                    progress.say(failed)
            logs = own_logs(self.settings, opts.spider)
        return Source(
            logs, opts.format, opts.site, opts.base_url, opts.log_format, self.shard, self.settings.ignore
        )

    def _duration_is_accepted(self, progress: Progress) -> bool:
        """Print how long validation may take. On a terminal a person is asked, and False means no."""
        said = warning(self.project, self.settings)
        return said is None or progress.confirms(
            f"{said} --budget N shortens it, --no-validate leaves it out.", "Validate?"
        )

    @property
    def _is_by_log(self) -> bool:
        """Whether nothing may be fetched, so that the log alone decides."""
        settings = self.settings
        return self.opts.no_validate or settings.validation_budget == 0 or settings.same == "items"

    def _decided_by_log(
        self,
        sites: Iterator[Mined],
        collected: CollectedFigures,
        taking: TakingOver | None,
        progress: Progress,
    ) -> tuple[list[Ended], Spent]:
        """Try the rules of each site by its log alone, as soon as the site is mined. Only a report needs logs after
        that.

        Returns the results of the trials, and how many fetches were spent: none.
        """
        trials, interrupted = list[Ended](), False
        try:
            book, verdicts = self._load_book(), self._load_verdicts(progress)
            for site in decided_from_log(sites, book, verdicts, self.settings, taking=taking):
                trials.append(site)
        except KeyboardInterrupt:
            if not trials:
                raise
            interrupted = True
        if self.settings.same == "items" and not self.opts.no_validate:
            progress.say(NOTHING_FETCHED)
            told = [*collected.figures, *(taking.figures if taking is not None else ())]
            if not any(one.says_taken for one in told):
                progress.say('these logs do not say what a spider took: crawl once with DUST_SAME = "items".')
        return trials, Spent(0, interrupted)

    def _load_verdicts(self, progress: Progress) -> Verdicts:
        """Load the verdicts of earlier runs. A file that cannot be read is told."""
        verdicts = Verdicts.load(_verdicts_path(self.settings))
        if verdicts.warning:
            progress.say(verdicts.warning)
        return verdicts

    def _sort_trials(
        self,
        sites: Iterator[Mined],
        taking: TakingOver | None,
        journal: ProbeJournal,
        latest: float,
        progress: Progress,
        poll: Poll,
    ) -> tuple[list[SiteTrials], list[Ended]]:
        """The trials that need fetches, and the results of all other trials. The log of a site without fetches is let
        go at once.
        """
        settings, book, verdicts = self.settings, self._load_book(), self._load_verdicts(progress)
        trials = prepare(
            sites, book, verdicts, settings, journal=journal, latest=latest, poll=poll, taking=taking
        )
        return afforded(trials, settings.validation_budget, poll)

    def _validate(
        self,
        trials: Sequence[SiteTrials],
        over: Sequence[Ended],
        collected: CollectedFigures,
        progress: Progress,
        texts: dict[str, Sequence[str]],
        interruption: Interruption,
    ) -> tuple[list[Ended], Spent]:
        """Try the rules with fetches. Returns the results of all trials, and how many fetches were spent.

        *over*: the trials that needed none; *texts* takes the words of fetched pages, for a report.
        """
        settings = self.settings
        if trials and not self._duration_is_accepted(progress):
            book, verdicts = self._load_book(), self._load_verdicts(progress)
            decided = list(
                decided_from_log(collected.mined, book, verdicts, settings, poll=interruption.poll)
            )
            interruption.conclude()
            return decided, Spent(0, interruption.came)
        spent = Spent(0, interruption.came)
        if trials and not interruption.came:
            from scrapy_dust.trials.run import run_trials  # noqa: PLC0415  Starts an event loop's machinery.

            on_text = texts.__setitem__ if self.opts.report else None
            told = progress_of(progress)
            spent = run_trials(self.project, trials, settings, told, interruption, on_text)
        return [*over, *map(ended, trials)], spent


def _with_taken(
    figures: Sequence[Figures], trials: Iterable[Ended], taking: TakingOver | None
) -> tuple[list[Figures], list[Ended]]:
    """*figures*, and *trials* in the order of the sites, with those of the sites that were taken over."""
    if taking is None:
        turns = {one.site: turn for turn, one in enumerate(figures)}
        return list(figures), sorted(trials, key=lambda one: turns[one.site])
    return [*figures, *taking.figures], taking.in_turn(trials)


def _closing(visits: Mapping[str, Sequence[Visit]], sites: Iterator[Mined]) -> Iterator[Mined]:
    """*sites*, after which the files of *visits* are removed."""
    try:
        yield from sites
    finally:
        if isinstance(visits, Shelved):
            visits.close()


def _verdicts_path(settings: DustSettings) -> Path:
    """The file with the verdicts of earlier runs."""
    return log_dir(settings.dir).parent / "verdicts.json"
