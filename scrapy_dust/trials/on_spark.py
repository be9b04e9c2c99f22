"""Reads and mines logs on Spark, with the same result as `reading.read` and `learning.mine`.

Trials run here as ever, since only Scrapy keeps the manners towards sites.
"""

from __future__ import annotations

from pathlib import Path

from scrapy_dust.crawl_log.log_names import log_name
from scrapy_dust.engines import spark
from scrapy_dust.engines.local import Mined
from scrapy_dust.errors import EngineError
from scrapy_dust.rule_book import volatile_places
from scrapy_dust.rule_book.priors import all_priors
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.findings_saver import FindingsSaver
from scrapy_dust.trials.learning import check_packages, finish_mining
from scrapy_dust.trials.reading import Read, Reporter, Source, seconds_of, unreadable_in_words


def read_and_mine(
    source: Source,
    settings: DustSettings,
    reporter: Reporter,
    *,
    redirects_count: bool,
    state: Path | None,
    keep: bool,
) -> tuple[Read, list[Mined]]:
    """Read and mine *source* on Spark; see `learning.mine`. Raises `CrawlLogError` and `EngineError`."""
    if source.base_url is not None or source.log_format is not None:
        raise EngineError("access logs are not read by Spark. Mine them with --engine local.")
    check_packages(settings)
    found = spark.read_and_mine(
        source.paths,
        settings,
        all_priors(state),
        volatile_places.known_places(state).volatile(),
        log_format=source.format,
        host=source.host,
        redirects_count=redirects_count,
    )
    kept = state if keep else None
    with FindingsSaver(kept) as saver:
        mined = [
            finish_mining(one, settings, reporter, found.seen.names, saver, state=kept) for one in found.mined
        ]
    seen = found.seen
    read = Read(
        # Visits stay where they were read.
        visits={one.site: () for one in mined},
        logs=tuple(dict.fromkeys(log_name(file.name) for file in found.files)),
        unreadable=seen.unreadable,
        named=unreadable_in_words(seen.named),
        passed_over=seen.passed_over,
        latest=seconds_of(seen.latest),
        files=found.files,
        names=seen.names,
    )
    return read, mined
