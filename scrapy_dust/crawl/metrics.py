"""The ``dust/…`` stats as a file that Prometheus' node exporter collects, in its text format.

All are gauges, since a suppressed request that is given back no longer counts. The numbers of one rule have its id as
a label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scrapy.crawler import Crawler

from scrapy_dust.crawl.periodic_file import PeriodicFile
from scrapy_dust.stats import Stat

#: Seconds between two files. Prometheus asks once or twice a minute.
EVERY = 15.0

_OF_A_RULE = re.compile(r"[0-9a-f]{8}|others")


def metrics_file(path: str, crawler: Crawler) -> PeriodicFile:
    """The file of the stats of *crawler* at *path*."""

    def content() -> bytes:
        spider = crawler.spider
        return exposition(crawler.stats.get_stats(), spider.name if spider else "").encode()

    return PeriodicFile(Path(path), "DUST_METRICS_FILE", content, EVERY)


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
    """The stat *name* as the name of a metric."""
    return "scrapy_" + re.sub(r"[^a-zA-Z0-9_]", "_", name)


def _escaped(text: str) -> str:
    """*text* as the value of a label."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _on_one_line(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", " ")
