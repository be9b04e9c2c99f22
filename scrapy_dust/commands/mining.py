"""What ``scrapy dustmine`` does: its options, and the order of things."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from scrapy.settings import SETTINGS_PRIORITIES, Settings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.log import configure_logging
from scrapy.utils.project import inside_project

from scrapy_dust.commands.progress import Progress
from scrapy_dust.commands.suggestions import no_such, remedy
from scrapy_dust.commands.telling import phases_of, print_result, print_rules, profile_table
from scrapy_dust.crawl_log import log_dir, log_sources
from scrapy_dust.crawl_log.reader import checked
from scrapy_dust.crawl_log.upkeep import keep_of, keep_up
from scrapy_dust.dust.pages import SiteLog
from scrapy_dust.engines.gathering import Shelved, records_of
from scrapy_dust.engines.laps import Lap, Laps
from scrapy_dust.engines.local import Mined
from scrapy_dust.errors import CrawlLogError, DustError, ReportError
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.files import in_project, is_uri
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.concluding import conclude, with_decisions
from scrapy_dust.trials.journal import ProbeJournal, probes_path
from scrapy_dust.trials.learning import decide_from_log, mine, prepare
from scrapy_dust.trials.reading import Read, Source, read
from scrapy_dust.trials.site_trials import SiteTrials
from scrapy_dust.trials.spending import Spent, progress_of


def job_of(project: Settings, logs: Sequence[str], opts: argparse.Namespace) -> Job:
    """What is to be done. Raises `ValueError` for what cannot be meant, `CrawlLogError` where there is no log."""
    if (project.getpriority("LOG_LEVEL") or 0) < SETTINGS_PRIORITIES["cmdline"]:
        # A project's level is for its crawls; progress is told here.
        project.set("LOG_LEVEL", "WARNING", "cmdline")
    configure_logging(project)
    if opts.spider:
        spiders = get_spider_loader(project)
        try:
            spiders.load(opts.spider).update_settings(project)
        except KeyError:
            raise ValueError(no_such("spider", opts.spider, spiders.list())) from None
    settings = DustSettings.from_settings(
        project,
        validation_budget=opts.budget,
        # What the phases print is the papers'.
        learner=opts.learner if opts.phase == "valid" else "dustbuster",
        # As typed: relative to where one is, not to the project.
        rules=[opts.rules if is_uri(opts.rules) else str(Path(opts.rules).absolute())]
        if opts.rules
        else None,
    )
    checked(opts.format, opts.base_url, opts.log_format)
    if not logs:
        _look_for_own(settings, opts.spider)
    return Job(project, settings, logs, opts)


def _look_for_own(settings: DustSettings, spider: str | None) -> list[str]:
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
    """One run of the command."""

    project: Settings
    settings: DustSettings
    logs: Sequence[str]  #: as named; none: the project's own
    opts: argparse.Namespace

    def run(self) -> None:
        """Raises `DustError` where it cannot be done."""
        opts, progress, clock = self.opts, Progress(sys.stderr, self.settings.min_support), Laps()
        try:
            found, mined = self._mined(progress, clock)
        except KeyboardInterrupt:
            kept = f" {progress.kept}" if progress.kept and not opts.dry_run else ""
            raise DustError(
                f"interrupted before any rule was tried; the rule book is as it was.{kept}"
            ) from None
        if opts.phase != "valid":
            print_rules(mined, opts.phase, as_json=opts.json)
            self._profile(mined, phases_of(mined, clock), progress)
            return
        texts: dict[str, Sequence[str]] = {}
        trials, spent = self._try(mined, found.latest, progress, texts)
        clock.lap("validate")
        if not opts.dry_run and trials:
            conclude(trials, self.settings, found.logs, _verdicts_path(self.settings))
        if spent.interrupted:
            progress.say("Interrupted. What was fetched is kept: the same command goes on from here.")
        for site in trials:
            if site.given_up is not None:
                progress.say(f"{site.site}: left for another run, since {site.given_up}.")
        if opts.report:
            self._report(mined, trials, found, spent.fetches, texts)
        clock.lap("write")
        took = phases_of(mined, clock)
        print_result(
            mined, trials, spent.fetches, self.settings, took, written=not opts.dry_run, as_json=opts.json
        )
        self._profile(mined, took, progress)

    def _profile(self, mined: Sequence[Mined], took: Mapping[str, Lap], progress: Progress) -> None:
        if not self.opts.profiled:
            return
        if any(one.taken_over for one in mined):
            whole = sum(one.is_taken_over for one in mined)
            in_part = sum(bool(one.taken_over) for one in mined) - whole
            progress.say(
                f"Taken over from an earlier run: {whole} of {len(mined)} sites, and {in_part} but for their edits."
            )
        for line in profile_table(took).splitlines():
            progress.say(line)

    def _mined(self, progress: Progress, clock: Laps) -> tuple[Read, list[Mined]]:
        source = self._source(progress)
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
            self._tell(found, progress)
            clock.lap("mine")
            return found, mined
        limit = self.settings.memory_limit
        found = read(source, progress, most=None if limit is None else limit << 20)
        self._tell(found, progress)
        clock.lap("read")
        progress.begin_mining(len(found.visits), records_of(found.visits))
        in_turn = mine(
            found.visits,
            self.settings,
            progress,
            redirects_count=living,
            state=state,
            keep=keep,
            processes=None,
        )
        try:
            # What is only printed needs no log.
            mined = [one if living else replace(one, log=SiteLog(())) for one in in_turn]
        finally:
            if isinstance(found.visits, Shelved):
                found.visits.close()
        clock.lap("mine")
        return found, mined

    def _tell(self, found: Read, progress: Progress) -> None:
        """What was not read of the logs."""
        for line in found.named:
            progress.say(f"not read: {line}")
        if found.unreadable > len(found.named):
            progress.say(f"not read: {found.unreadable - len(found.named)} more lines.")
        if self.opts.site and not found.visits:
            meant = remedy(self.opts.site, found.other_hosts)
            progress.say(f"no page of the host {self.opts.site!r} is in these logs. {meant}".rstrip())
        if found.passed_over:
            progress.say(f"passed over: {found.passed_over} lines that show no page, such as POST requests.")

    def _report(
        self,
        mined: Sequence[Mined],
        trials: Sequence[SiteTrials],
        found: Read,
        fetches: int,
        texts: Mapping[str, Sequence[str]],
    ) -> None:
        from scrapy_dust.report import html_of, report_of  # noqa: PLC0415  Nobody else needs it.

        logs = found.logs
        day = datetime.now(UTC).date().isoformat()
        # After a dry run, the book as it would be.
        book = with_decisions(self._book(), trials, logs, day) if self.opts.dry_run else self._book()
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

    def _book(self) -> RuleBook:
        return RuleBook.load([in_project(path) for path in self.settings.rules])

    def _source(self, progress: Progress) -> Source:
        opts, logs = self.opts, self.logs
        if not logs:
            if opts.phase == "valid" and not opts.dry_run:
                for failed in keep_up(self.settings.dir, keep_of(self.settings), compacting=True):
                    progress.say(failed)
            logs = _look_for_own(self.settings, opts.spider)
        return Source(logs, opts.format, opts.site, opts.base_url, opts.log_format)

    def _try(
        self, mined: Sequence[Mined], latest: float, progress: Progress, texts: dict[str, Sequence[str]]
    ) -> tuple[list[SiteTrials], Spent]:
        """The trials, at their end, and what they took. For a report, *texts* are what pages said."""
        settings, state = self.settings, _verdicts_path(self.settings)
        verdicts = Verdicts.load(state)
        if verdicts.warning:
            progress.say(verdicts.warning)
        log_only = self.opts.no_validate or settings.validation_budget == 0
        book = self._book()
        with ProbeJournal(probes_path(state), now=time.time(), writing=not self.opts.dry_run) as journal:
            trials = prepare(
                mined, book, verdicts, settings, log_only=log_only, journal=journal, latest=latest
            )
            if log_only:
                decide_from_log(trials)
            if log_only or not trials:
                return trials, Spent(0)

            from scrapy_dust.trials.run import run_trials  # noqa: PLC0415  Starts an event loop's machinery.

            on_text = texts.__setitem__ if self.opts.report else None
            return trials, run_trials(self.project, trials, settings, progress_of(progress), on_text)


def _verdicts_path(settings: DustSettings) -> Path:
    return log_dir(settings.dir).parent / "verdicts.json"
