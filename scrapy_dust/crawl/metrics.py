"""Writes the ``dust/…`` stats to a file that Prometheus' node exporter collects, in its text format.

All are gauges, since a suppressed request that is given back no longer counts. The numbers of one rule have its id as
a label. An error in writing is logged once, and the crawl goes on.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncio import create_looping_call

from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: Seconds between two files. Prometheus asks once or twice a minute.
EVERY = 15.0

_OF_A_RULE = re.compile(r"[0-9a-f]{8}|others")


class MetricsFile:
    """Writes the file of stats while a crawl runs, and once more at its end."""

    def __init__(self, path: str, crawler: Crawler) -> None:
        self._path = Path(path)
        self._crawler = crawler
        self._has_failed = False
        self._writing = create_looping_call(self.write)

    def start(self) -> None:
        """Begin to write at intervals."""
        self._writing.start(EVERY, now=False)

    def stop(self) -> None:
        """Write a last time, and stop."""
        if self._writing.running:
            self._writing.stop()
        self.write()

    def write(self) -> None:
        """Write the stats as they are now into the file, in the place of what it had."""
        spider = self._crawler.spider
        text = exposition(self._crawler.stats.get_stats(), spider.name if spider else "")
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            beside.write_text(text, "utf-8")
            beside.replace(self._path)
        except OSError as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            if not self._has_failed:
                self._has_failed = True
                logger.warning(
                    "%s: DUST_METRICS_FILE cannot be written (%s). Check the path and its permissions.",
                    self._path,
                    error.strerror,
                )


def exposition(stats: Mapping[str, Any], spider: str) -> str:
    """The numbers among *stats* that scrapy-dust counts, in Prometheus' text format."""
    found: dict[str, list[str]] = {}
    docs = {stat.value: stat.doc for stat in Stat}
    for name in sorted(stats):
        value = stats[name]
        if not name.startswith("dust/") or isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        stem, _, last = name.rpartition("/")
        is_of_rule = stem in docs and _OF_A_RULE.fullmatch(last) is not None
        metric = _metric(stem) + "_by_rule" if is_of_rule else _metric(name)
        labels = f'spider="{_escaped(spider)}"' + (f',rule="{last}"' if is_of_rule else "")
        doc = docs.get(stem if is_of_rule else name, "")
        lines = found.setdefault(
            metric, [f"# HELP {metric} {_on_one_line(doc)}".rstrip(), f"# TYPE {metric} gauge"]
        )
        lines.append(f"{metric}{{{labels}}} {value}")
    return "".join(f"{line}\n" for lines in found.values() for line in lines)


def _metric(name: str) -> str:
    return "scrapy_" + re.sub(r"[^a-zA-Z0-9_]", "_", name)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _on_one_line(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", " ")
