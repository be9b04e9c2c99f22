from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from scrapy_dust.crawl_log import CrawlLogWriter, new_log_path
from scrapy_dust.crawl_log.log_upkeep import move_and_compact_logs
from scrapy_dust.crawl_log.retention import Keep, logs_below, prune

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.fixture
def logs(tmp_path):
    """Of two spiders, 1, 2, … 5 days old, of 1,000 bytes each."""
    made = {}
    for spider in ("a", "b"):
        for days in range(1, 6):
            path = new_log_path(tmp_path, spider, NOW - timedelta(days=days))
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"x" * 1000)
            made[spider, days] = path
    return made


def left(logs, spider="a"):
    return [days for (name, days), path in logs.items() if name == spider and path.exists()]


@pytest.mark.parametrize(
    ("keep", "stay"),
    [
        (Keep(), [1, 2, 3, 4, 5]),
        (Keep(days=3), [1, 2, 3]),
        (Keep(crawls=2), [1, 2]),
        (Keep(bytes=3999), [1, 2, 3]),
        (Keep(days=4, crawls=3, bytes=2000), [1, 2]),
        (Keep(bytes=0), [1]),
    ],
)
def test_the_oldest_go_of_each_spider_and_the_newest_stays(tmp_path, logs, keep, stay):
    removed = prune(logs_below(tmp_path), keep, NOW)
    assert left(logs, "a") == left(logs, "b") == stay
    assert len(removed) == 2 * (5 - len(stay))


def test_the_newest_stays_however_old(tmp_path, logs):
    prune(logs_below(tmp_path), Keep(days=1), NOW + timedelta(days=1000))
    assert left(logs) == [1]


def test_a_log_that_is_being_written_stays(tmp_path, logs):
    writer = CrawlLogWriter(logs["a", 5])
    prune(logs_below(tmp_path), Keep(crawls=1), NOW)
    assert left(logs) == [1, 5]
    writer.close()
    prune(logs_below(tmp_path), Keep(crawls=1), NOW)
    assert left(logs) == [1]


def test_what_is_not_ours_stays(tmp_path, logs):
    for name in ("notes.txt", "theirs.jsonl", "verdicts.json"):
        (tmp_path / "a" / name).write_text("x")
    prune(logs_below(tmp_path), Keep(crawls=1), NOW)
    assert sorted(path.name for path in (tmp_path / "a").glob("[ntv]*")) == [
        "notes.txt",
        "theirs.jsonl",
        "verdicts.json",
    ]


def test_a_crawl_whose_log_is_there_in_two_forms_counts_once(tmp_path, logs):
    logs["a", 1].with_suffix(".parquet").write_bytes(b"x")
    prune(logs_below(tmp_path), Keep(crawls=2), NOW)
    assert left(logs) == [1, 2]


def test_looking_after_logs_applies_it(tmp_path, logs):
    move_and_compact_logs(str(tmp_path.parent), Keep(crawls=1), compacting=False)
    assert left(logs) == [1, 2, 3, 4, 5]
    (tmp_path / "dust").mkdir()
    tmp_path.joinpath("a").rename(tmp_path / "dust" / "logs")
    move_and_compact_logs(str(tmp_path / "dust"), Keep(crawls=1), compacting=False)
    assert len(list((tmp_path / "dust").rglob("*.jsonl"))) == 1
