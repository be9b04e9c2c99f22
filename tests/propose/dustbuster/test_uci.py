"""Phases 1 and 2 on real URLs: five hosts of a university's crawl, where the papers' figures can still keep up."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.elimination import EliminationParams, eliminate_redundant
from scrapy_dust.propose.dustbuster.sketches import Similar
from tests import oracle
from tests.propose.dustbuster.test_detection import likely_similar, printed
from tests.strategies import Line, pages_of

pytestmark = pytest.mark.once

HOSTS = ("sli", "hana", "sprout", "tutors", "mhcid")
MODES = (Similar.SKETCH, Similar.SIZE, Similar.NONE)

Printed = list[tuple[str, str, bool, bool, int]]


@pytest.fixture(scope="module")
def logs(shared_data: Path) -> dict[str, list[Line]]:
    path = shared_data / "uci" / "pages.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    by_host: dict[str, list[Line]] = {}
    for line in _lines(path):
        by_host.setdefault((urlsplit(line["url"]).hostname or "").partition(".")[0], []).append(line)
    return {host: by_host[host] for host in HOSTS}


def _lines(path: Path) -> Iterator[Line]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def of_product(log: list[Line], detection: DetectionParams) -> tuple[Printed, Printed]:
    likely = detect_likely_rules(pages_of(log), detection)
    kept = eliminate_redundant(likely, EliminationParams()).kept
    return [printed(rule) for rule in likely], [printed(rule) for rule in kept]


def of_oracle(log: list[Line], detection: DetectionParams) -> tuple[Printed, Printed]:
    L, judge = oracle.unique_records(log), likely_similar(detection)
    likely = oracle.detect_likely_rules(L, 35, 6, detection.min_support, judge)
    kept = oracle.kept_rules(L, 35, 6, 11, detection.min_support, 0.05, 1, 1100, judge)
    return [pair.printed() for pair in likely], [pair.printed() for pair in kept]


CASES = [(host, similar, 3) for host in HOSTS for similar in MODES]
# A support of 1 is no use to anyone, but compares thousands of rules instead of some hundred.
CASES += [(host, similar, 1) for host in ("sprout", "mhcid") for similar in MODES]


@pytest.mark.parametrize(("host", "similar", "min_support"), CASES)
def test_rules_of_a_real_host_are_the_papers(logs, host, similar, min_support):
    detection = DetectionParams(similar=similar, min_support=min_support)
    assert of_product(logs[host], detection) == of_oracle(logs[host], detection)


def test_these_hosts_have_rules_to_compare(logs):
    likely, kept = zip(
        *(of_product(log, DetectionParams(similar=Similar.NONE)) for log in logs.values()), strict=True
    )
    assert sum(map(len, likely)) > 100
    assert 0 < sum(map(len, kept)) < sum(map(len, likely))
