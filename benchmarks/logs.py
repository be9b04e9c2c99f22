"""URL lists whose contents are known, for what is measured on them."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Hashable
from pathlib import Path

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import Visit

#: What a line says that its URL shows: equal words, and nearly equal ones without what all pages share.
EXACT, STRICT = "cluster_exact", "cluster_strict"

Truths = dict[str, dict[str, Hashable]]  #: by field, by URL


def lists_in(data: Path) -> list[Path]:
    return [path for path in sorted(data.glob("*/*.jsonl.gz")) if path.parent.name in ("sites", "uci")]


def name_of(path: Path) -> str:
    name = path.name.partition(".")[0]
    return path.parent.name if name == "pages" else name


def load(path: Path) -> tuple[dict[str, list[Visit]], Truths]:
    """Visits by site, and what is true."""
    visits: dict[str, list[Visit]] = defaultdict(list)
    for visit in read_visits(path):
        visits[site_of(visit.url) or ""].append(visit)
    truths: Truths = {EXACT: {}, STRICT: {}}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            for field, truth in truths.items():
                if record.get(field) is not None:
                    truth[record["url"]] = record[field]
    return visits, truths
