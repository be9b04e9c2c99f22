"""Turns the options of ``scrapy dustmine`` into the run that they ask for."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scrapy.settings import SETTINGS_PRIORITIES, Settings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.log import configure_logging

from scrapy_dust.commands.mining import Job, own_logs
from scrapy_dust.commands.suggestions import no_such
from scrapy_dust.crawl_log.log_places import spiders_in
from scrapy_dust.crawl_log.reader import checked_options
from scrapy_dust.rule_book.safe_files import in_project, is_uri
from scrapy_dust.rule_book.shards import shard_of
from scrapy_dust.settings import DustSettings


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
        own_logs(settings, opts.spider)
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
