"""The work of ``scrapy dustmine``: it reads logs, mines them, validates rules, writes the rule book, and
reports.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from scrapy.settings import SETTINGS_PRIORITIES, Settings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.log import configure_logging
from scrapy.utils.project import inside_project

from scrapy_dust.commands.passing import Passing, without_log
from scrapy_dust.commands.progress import Progress
from scrapy_dust.commands.results import (
    Result,
    phases_of,
    print_as_json,
    print_result,
    print_rules,
    profile_table,
)
from scrapy_dust.commands.suggestions import no_such, remedy
from scrapy_dust.crawl_log import log_dir, log_sources
from scrapy_dust.crawl_log.log_places import spiders_in
from scrapy_dust.crawl_log.reader import checked_options
from scrapy_dust.crawl_log.upkeep import keep_of, move_and_compact_logs
from scrapy_dust.engines.gathering import Shelved, records_of
from scrapy_dust.engines.laps import Lap, Laps
from scrapy_dust.engines.local import Mined
from scrapy_dust.engines.side_by_side import look_seldom_for_garbage
from scrapy_dust.errors import CrawlLogError, DustError, ReportError
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.safe_files import in_project, is_uri, lock
from scrapy_dust.rule_book.shards import Shard, shard_of
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.stopping import Stopped
from scrapy_dust.trials.concluding import conclude, with_decisions
from scrapy_dust.trials.duration import warning
from scrapy_dust.trials.ended import Ended, ended
from scrapy_dust.trials.interruption import Interruption, InterruptionOfProcess, as_keyboard_interrupt
from scrapy_dust.trials.journal import ProbeJournal, probes_path
from scrapy_dust.trials.learning import NOTHING_FETCHED, decided_from_log, mine, on_another_log, prepare
from scrapy_dust.trials.reading import Read, Source, read
from scrapy_dust.trials.spending import Spent, progress_of
from scrapy_dust.visits.pages import Visit

_NOTHING_TRIED = "interrupted before any rule was tried; the rule book is as it was."


def job_of(project: Settings, logs: Sequence[str], opts: argparse.Namespace) -> Job:
    """The run that the options ask for. Raises `ValueError` for a wrong value, `CrawlLogError` without a log."""
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
    shard = None if opts.shard is None else shard_of(opts.shard)
    if shard is not None:
        if opts.engine == "spark":
            raise ValueError(
                "--shard works with --engine local only: Spark divides the sites itself. Leave one of them out."
            )
        settings = replace(settings, validation_budget=shard.share_of_budget(settings.validation_budget))
    checked_options(opts.format, opts.base_url, opts.log_format)
    _check_together(opts, settings)
    if not settings.rules and opts.phase == "valid" and not opts.dry_run:
        raise ValueError(
            "DUST_RULES names no rule book to write. Name one there, or with --rules, or use --dry-run."
        )
    if not logs:
        _look_for_own(settings, opts.spider)
        if settings.same == "items" and not opts.spider and len(spiders_in(settings.dir)) > 1:
            raise ValueError(
                'DUST_SAME is "items": pages are compared by what one spider takes from them. Name the spider with --spider.'
            )
    return Job(project, settings, logs, opts, shard)


def _check_together(opts: argparse.Namespace, settings: DustSettings) -> None:
    """Raise `ValueError` where one option has no effect beside another."""
    for name in ("report", "validate_on"):
        if getattr(opts, name) and opts.phase != "valid":
            option = name.replace("_", "-")
            raise ValueError(
                f"--{option} needs tested rules, and --phase {opts.phase} tests none. Leave one of them out."
            )
    if opts.site == "":
        raise ValueError("--site names no host. Name one such as www.example.org, or leave it out.")
    if opts.budget is not None and opts.no_validate:
        raise ValueError("--budget limits fetches, and --no-validate fetches nothing. Leave one of them out.")
    books = {os.path.realpath(in_project(path)) for path in settings.rules if not is_uri(path)}
    if opts.report and os.path.realpath(opts.report) in books:
        raise ValueError(f"--report {opts.report} would overwrite the rule book. Name another file.")


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
        result, mined, texts = None, list[Mined](), dict[str, Sequence[str]]()
        try:
            with as_keyboard_interrupt():
                other = self._validation_log(progress)
                found, sites = self._mining(progress, clock)
                if opts.phase == "valid" and self._is_by_log:
                    result = self._decided_by_log(sites, other, progress, clock)
                else:
                    # What is only printed needs no log.
                    mined = [one if opts.phase == "valid" else without_log(one) for one in sites]
                    clock.lap("mine")
        except KeyboardInterrupt:
            kept = f" {progress.kept}" if progress.kept and not opts.dry_run else ""
            raise DustError(f"{_NOTHING_TRIED}{kept}") from None
        if opts.phase != "valid":
            print_rules(mined, opts.phase, as_json=opts.json)
            clock.lap("print")
            self._profile(mined, phases_of(mined, clock), progress)
            return
        interruption = InterruptionOfProcess()
        with interruption:
            if result is None:
                try:
                    tried = self._on_another(mined, other, progress)
                    result = self._validate(tried, (other or found).latest, progress, texts, interruption)
                except Stopped:
                    raise DustError(_NOTHING_TRIED) from None
                clock.lap("validate")
            self._conclude(other or found, result, texts, progress, clock)

    def _check_files(self) -> None:
        """Check, before hours of work, that all files can be read and written."""
        self._book()
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

    def _on_another(self, mined: Sequence[Mined], other: Read | None, progress: Progress) -> Sequence[Mined]:
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
        texts: Mapping[str, Sequence[str]],
        progress: Progress,
        clock: Laps,
    ) -> None:
        """Write the decisions into the rule book, the state and the report, and print them."""
        opts, mined, trials, spent = self.opts, result.mined, result.trials, result.spent
        if not opts.dry_run and (trials or self.shard):
            conclude(trials, self.settings, found.logs, _verdicts_path(self.settings), self.shard)
        if spent.interrupted:
            progress.say("Interrupted. What was fetched is kept: the same command goes on from here.")
        for site in trials:
            if site.given_up is not None:
                progress.say(f"{site.site}: left for another run, since {site.given_up}.")
        if opts.report:
            self._report(mined, trials, found, spent.fetches, texts)
        clock.lap("write")
        took = phases_of(mined, clock)
        result = replace(result, book=self._path_written())
        if opts.json:
            print_as_json(result, took)
        else:
            print_result(result)
        clock.lap("print")
        self._profile(mined, phases_of(mined, clock), progress)

    def _profile(self, mined: Sequence[Mined], took: Mapping[str, Lap], progress: Progress) -> None:
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

    def _mining(self, progress: Progress, clock: Laps) -> tuple[Read, Iterator[Mined]]:
        """The logs, and their sites, each of which is mined when it is asked for."""
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
            self._report_unread(found, progress)
            return found, iter(mined)
        limit = self.settings.memory_limit
        found = read(source, progress, most=None if limit is None else limit << 20)
        self._report_unread(found, progress)
        clock.lap("read")
        progress.begin_mining(len(found.visits), records_of(found.visits))
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
        )
        # Of the visits only who mines them needs more.
        return replace(found, visits={}), _closing(found.visits, sites)

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

    def _report(
        self,
        mined: Sequence[Mined],
        trials: Sequence[Ended],
        found: Read,
        fetches: int,
        texts: Mapping[str, Sequence[str]],
    ) -> None:
        # Nobody else needs it.
        from scrapy_dust.report.gathering import report_of  # noqa: PLC0415
        from scrapy_dust.report.page import html_of  # noqa: PLC0415

        logs = found.logs
        day = datetime.now(UTC).date().isoformat()
        book = self._book()
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
        """The path that this run has written: the rule book, or a shard's part of it; None where nothing was written."""
        if self.opts.dry_run:
            return None
        named = self.settings.rules[0]
        if self.shard is not None:
            return self.shard.path_of_part(named)
        path = in_project(named)
        return named if is_uri(path) or Path(path).exists() else None

    def _book(self) -> RuleBook:
        return RuleBook.load([in_project(path) for path in self.settings.rules])

    def _source(self, progress: Progress) -> Source:
        opts, logs = self.opts, self.logs
        if not logs:
            # While several processes read logs, nobody moves them.
            if opts.phase == "valid" and not opts.dry_run and self.shard is None:
                for failed in move_and_compact_logs(
                    self.settings.dir, keep_of(self.settings), compacting=True
                ):
                    progress.say(failed)
            logs = _look_for_own(self.settings, opts.spider)
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
        self, sites: Iterator[Mined], other: Read | None, progress: Progress, clock: Laps
    ) -> Result:
        """Try the rules of each site by its log alone, as soon as the site is mined. Only a report needs logs after that."""
        passing, trials, interrupted = (
            Passing(clock, holds=self.opts.report is not None),
            list[Ended](),
            False,
        )
        in_turn = passing.of(one for site in sites for one in self._on_another([site], other, progress))
        try:
            for site in decided_from_log(in_turn, self._book(), self._verdicts(progress), self.settings):
                trials.append(site)
        except KeyboardInterrupt:
            if not trials:
                raise
            interrupted = True
        if self.settings.same == "items" and not self.opts.no_validate:
            progress.say(NOTHING_FETCHED)
            if not passing.says_taken:
                progress.say('these logs do not say what a spider took: crawl once with DUST_SAME = "items".')
        return Result(passing.mined, passing.pages, trials, Spent(0, interrupted))

    def _verdicts(self, progress: Progress) -> Verdicts:
        verdicts = Verdicts.load(_verdicts_path(self.settings))
        if verdicts.warning:
            progress.say(verdicts.warning)
        return verdicts

    def _validate(
        self,
        mined: Sequence[Mined],
        latest: float,
        progress: Progress,
        texts: dict[str, Sequence[str]],
        interruption: Interruption,
    ) -> Result:
        """Try the rules with fetches. *texts* takes the words of fetched pages, for a report."""
        settings, state = self.settings, _verdicts_path(self.settings)
        book, verdicts = self._book(), self._verdicts(progress)
        pages = sum(len(one.log.pages) for one in mined)
        with ProbeJournal(
            probes_path(state, self.shard),
            now=time.time(),
            writing=not self.opts.dry_run,
            ignore=settings.ignore,
        ) as journal:
            trials = prepare(
                mined, book, verdicts, settings, journal=journal, latest=latest, poll=interruption.poll
            )
            if any(not site.finished for site in trials) and not self._duration_is_accepted(progress):
                decided = list(decided_from_log(mined, book, verdicts, settings, poll=interruption.poll))
                interruption.conclude()
                return Result(mined, pages, decided, Spent(0, interruption.came))
            if not trials or interruption.came:
                return Result(mined, pages, [ended(site) for site in trials], Spent(0, interruption.came))

            from scrapy_dust.trials.run import run_trials  # noqa: PLC0415  Starts an event loop's machinery.

            on_text = texts.__setitem__ if self.opts.report else None
            told = progress_of(progress)
            spent = run_trials(self.project, trials, settings, told, interruption, on_text)
        return Result(mined, pages, [ended(site) for site in trials], spent)


def _closing(visits: Mapping[str, Sequence[Visit]], sites: Iterator[Mined]) -> Iterator[Mined]:
    """*sites*, after which the files of *visits* are removed."""
    try:
        yield from sites
    finally:
        if isinstance(visits, Shelved):
            visits.close()


def _verdicts_path(settings: DustSettings) -> Path:
    return log_dir(settings.dir).parent / "verdicts.json"
