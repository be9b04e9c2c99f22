"""The journal on disk: whatever becomes of the files, what was written before is read, and nothing else."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl_log.compaction import gzip_log
from scrapy_dust.crawl_log.hiding import Hider
from scrapy_dust.crawl_log.log_names import new_name
from scrapy_dust.crawl_log.retention import Keep
from scrapy_dust.crawl_log.writer import CrawlLogWriter
from scrapy_dust.journal import writer as writing
from scrapy_dust.journal.events import Event, What, as_line, now, to_record
from scrapy_dust.journal.journal_places import journals
from scrapy_dust.journal.reader import Counts, read
from scrapy_dust.journal.requeue import Waiting, put, suppressed_by
from scrapy_dust.journal.writer import Journal

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
EVENTS = st.builds(
    Event,
    st.sampled_from(What),
    st.just("2026-11-18T14:00:00.000Z"),
    TEXT,
    st.lists(TEXT, max_size=2).map(tuple),
    st.none() | TEXT,
    st.none() | TEXT,
    st.none() | TEXT,
    st.none() | st.dictionaries(TEXT, TEXT | st.integers(), max_size=2),
    st.lists(TEXT, max_size=2).map(tuple),
)


def suppressed(url: str, *rules: str, at: str = "", **more) -> Event:
    return Event(What.SUPPRESSED, at or now(), url, rules, request=more.pop("request", {}), **more)


def written(folder: Path, events: Iterable[Event]) -> Path:
    """The segment of a crawl that was killed."""
    writer = CrawlLogWriter(folder / new_name(datetime.now(UTC)))
    for event in events:
        writer.write(to_record(event))
    writer.close()
    return writer.path


def events_in(folder: Path) -> list[Event]:
    return [event for _, event in read(journals(folder))]


@given(st.lists(EVENTS, min_size=1, max_size=6), st.data(), st.booleans())
def test_of_a_torn_segment_all_that_was_whole_is_read(tmp_path_factory, events, data, packed):
    segment = written(tmp_path_factory.mktemp("journal"), events)
    if packed:
        segment = gzip_log(segment)
    whole = segment.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    segment.write_bytes(whole[:cut])
    counts = Counts()
    got = [event for _, event in read([segment], counts)]
    assert got == events[: len(got)]
    if cut == len(whole):
        assert (got, counts.unreadable) == (events, 0)
    elif not packed:
        assert len(got) >= whole[:cut].count(b"\n")


@given(st.lists(EVENTS, min_size=1, max_size=4), st.binary(max_size=40), st.integers(0, 4))
def test_what_is_no_line_of_ours_hides_none_that_is(tmp_path_factory, events, noise, at):
    segment = written(tmp_path_factory.mktemp("journal"), events)
    lines = segment.read_bytes().splitlines(keepends=True)
    noise = noise.replace(b"\n", b"") + b"\n"
    segment.write_bytes(b"".join([*lines[:at], noise, *lines[at:]]))
    assert events_in(segment.parent) == events


@given(EVENTS)
def test_a_line_says_what_the_record_of_its_event_says(event):
    assert json.loads(as_line(event, json.dumps(event.request))) == to_record(event)


def test_a_writer_goes_on_after_a_torn_line_of_another(tmp_path):
    torn = written(tmp_path, [suppressed("http://a.test/1")])
    torn.write_bytes(torn.read_bytes() + b'{"what": "suppr')
    journal = Journal(tmp_path)
    journal.write(suppressed("http://a.test/2"))
    journal.close()
    assert [event.url for event in events_in(tmp_path)] == ["http://a.test/1", "http://a.test/2"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_only_its_owner_may_read_it_before_it_is_packed_and_after(tmp_path):
    journal = Journal(tmp_path)
    journal.write(suppressed("http://a.test/1"))
    (plain,) = journals(tmp_path)
    before = stat.S_IMODE(plain.stat().st_mode)
    journal.close()
    (packed,) = journals(tmp_path)
    assert (packed.suffix, before, stat.S_IMODE(packed.stat().st_mode)) == (".gz", 0o600, 0o600)


def test_a_full_segment_is_followed_by_another_and_the_oldest_are_let_go_of(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "SEGMENT_BYTES", 10_000)
    journal = Journal(tmp_path)
    urls = [f"http://a.test/{number}" for number in range(300)]
    for url in urls:
        journal.write(suppressed(url))
    assert [event.url for event in events_in(tmp_path)] == urls
    journal.close()
    assert len(list(journals(tmp_path))) > 5
    assert [event.url for event in events_in(tmp_path)] == urls
    journal.close(Keep(bytes=1000))
    left = [event.url for event in events_in(tmp_path)]
    assert left
    assert left == urls[-len(left) :]


def test_hidden_values_are_in_no_part_of_it_and_such_urls_cannot_be_asked_for_again(tmp_path):
    journal = Journal(tmp_path, lambda: Hider(["token"], b"k" * 16))
    secret = "http://a.test/p?token=s3cret"
    journal.write(suppressed(secret, keeper=secret, key=secret, request={"meta": {"from": [secret]}}))
    journal.write(suppressed("http://a.test/q", request={"meta": {"from": [secret]}}))
    (segment,) = journals(tmp_path)
    assert b"s3cret" not in segment.read_bytes()
    journal.close()
    hidden, other = events_in(tmp_path)
    assert (hidden.request, hidden.lacks) == (None, ("url",))
    assert other.request is not None


def test_victims_are_what_a_rule_suppressed_and_nobody_gave_back_since(tmp_path):
    journal = Journal(tmp_path / "spider")
    for event in (
        suppressed("http://a.test/1", "r1"),
        suppressed("http://a.test/2", "r1", "r2"),
        suppressed("http://a.test/3", "r2"),
        suppressed("http://a.test/4", "r1"),
        Event(What.RETURNED, now(), "http://a.test/4", ("r1",)),
        suppressed("http://a.test/5", "r1"),
        Event(What.RETURNED, now(), "http://a.test/5", ("r1",)),
        suppressed("http://a.test/5", "r1"),
    ):
        journal.write(event)
    journal.close()
    found = suppressed_by(tmp_path, ["r1"])
    assert {spider.name: list(urls) for spider, urls in found.items()} == {
        "spider": ["http://a.test/1", "http://a.test/2", "http://a.test/5"]
    }


def test_a_list_is_one_crawls_at_a_time_and_stays_until_one_has_come_to_its_end(tmp_path):
    events = [suppressed(f"http://a.test/{number}", "r") for number in range(3)]
    path = put(tmp_path, events)
    first, second = Waiting(tmp_path), Waiting(tmp_path)
    assert list(first.events()) == events
    assert not second
    first.close(done=False)
    third = Waiting(tmp_path)
    assert list(third.events()) == events
    third.close(done=True)
    assert not path.exists()
