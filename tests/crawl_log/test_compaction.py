"""Logs that have ended are made smaller, say the same, and are never lost on the way; a live one is not touched."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl_log import CrawlLogWriter, compaction, new_log_path, read_visits, segments
from scrapy_dust.crawl_log.compaction import compact, compact_log

pyarrow = pytest.importorskip("pyarrow", reason="segments are Parquet only where pyarrow is installed")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is built without Parquet")

RECORD = {
    "url": "http://a.test/ü",
    "status": 200,
    "size": 1234,
    "sketch": [1, 2**63 - 1, 3, 4],
    "sketch_version": 1,
    "fetched_at": "2026-11-18T09:30:00.007Z",
    "latency": 0.25,
    "flags": ["cached"],
    "title": "Tïtle",
}


@pytest.fixture
def without_pyarrow(monkeypatch):
    monkeypatch.setattr(segments, "can_write", lambda: False)


def wrote(folder, *records, spider="s", torn=b""):
    path = new_log_path(folder, spider)
    writer = CrawlLogWriter(path)
    for record in records:
        writer.write(record)
    writer.close()
    with path.open("ab") as file:
        file.write(torn)
    return path


values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.text(alphabet="\ud800a")
)
odd = st.dictionaries(
    st.sampled_from([*segments.COLUMNS, segments.EXTRA, "referrer", "Ünknown"]),
    values | st.lists(values, max_size=3) | st.just("2026-11-18T09:30:00.123Z"),
)


@given(st.lists(odd, min_size=1, max_size=5))
def test_a_segment_gives_back_every_value_whatever_it_is(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("segment") / "x.parquet"
    assert segments.write(records, path) == segments.rows_in(path) == len(records)
    batches = pq.ParquetFile(path).iter_batches()
    back = [one for batch in batches for one in segments.records_of(batch, batch.schema.names)]
    # What is null is not told from what is not there.
    told = [{name: value for name, value in record.items() if value is not None} for record in records]
    assert [{n: v for n, v in record.items() if v is not None} for record in back] == told


def test_what_the_schema_knows_is_in_columns_of_its_own(tmp_path):
    segments.write([RECORD], tmp_path / "x.parquet")
    table = pq.read_table(tmp_path / "x.parquet")
    assert {str(kind) for kind in table.schema.types} == {kind for kind, _ in segments.COLUMNS.values()}
    (row,) = table.to_pylist()
    assert row["extra"] is None
    assert row["sketch"] == RECORD["sketch"]
    assert row["fetched_at"].isoformat() == "2026-11-18T09:30:00.007000+00:00"


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl.gz"])
def test_a_log_that_has_ended_is_compacted_and_says_the_same(tmp_path, suffix, request):
    if suffix == ".jsonl.gz":
        request.getfixturevalue("without_pyarrow")
    log = wrote(tmp_path, *[RECORD | {"url": f"http://a.test/{n}"} for n in range(100)], torn=b'{"url": "to')
    before, size = list(read_visits(tmp_path)), log.stat().st_size
    assert compact(tmp_path) == []
    (segment,) = (file for file in log.parent.iterdir())
    assert segment.name == log.name.removesuffix(".jsonl") + suffix
    assert segment.stat().st_size < size / 2
    assert stat.S_IMODE(segment.stat().st_mode) == 0o600
    assert list(read_visits(tmp_path)) == before
    assert compact(tmp_path) == []
    assert list(read_visits(tmp_path)) == before


def test_a_log_that_is_being_written_is_left_alone_however_old(tmp_path):
    path = new_log_path(tmp_path, "s")
    writer = CrawlLogWriter(path)
    writer.write(RECORD)
    os.utime(path, (0, 0))
    assert compact_log(path) == path
    writer.write(RECORD)
    writer.close()
    assert compact_log(path).suffix == ".parquet"
    assert len(list(read_visits(tmp_path))) == 2


def test_the_log_of_a_killed_crawl_has_ended(tmp_path):
    program = (
        "import os, signal, sys; from scrapy_dust.crawl_log.writer import CrawlLogWriter\n"
        "writer = CrawlLogWriter(sys.argv[1]); writer.write({'url': 'http://a.test/'})\n"
        "print(flush=True); sys.stdin.read(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    path = new_log_path(tmp_path, "s")
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        compact(tmp_path)
        assert path.exists()
        process.stdin.close()
    assert process.returncode == -signal.SIGKILL
    compact(tmp_path)
    assert not path.exists()
    assert [visit.url for visit in read_visits(tmp_path)] == ["http://a.test/"]


def test_what_is_not_ours_is_left_alone(tmp_path):
    (tmp_path / "theirs.jsonl").write_text('{"url": "u"}\n')
    compact(tmp_path)
    assert (tmp_path / "theirs.jsonl").exists()


def test_a_log_without_a_record_stays(tmp_path):
    paths = [wrote(tmp_path), wrote(tmp_path, torn=b'{"ur')]
    assert compact(tmp_path) == []
    assert all(path.exists() for path in paths)


class Crash(BaseException):
    """As sudden as a power cut."""


def _crash(*_, **__):
    raise Crash


@pytest.mark.parametrize(
    ("what", "name"),
    [(compaction, "_sync_to_disk"), (segments, "rows_in"), (Path, "replace"), (Path, "unlink")],
)
def test_a_crash_at_any_point_loses_nothing_and_shows_no_record_twice(tmp_path, monkeypatch, what, name):
    wrote(tmp_path, RECORD)
    wrote(tmp_path, RECORD | {"url": "http://a.test/other"})
    before = list(read_visits(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(what, name, _crash)
        with pytest.raises(Crash):
            compact(tmp_path)
    assert list(read_visits(tmp_path)) == before
    assert compact(tmp_path) == []
    assert list(read_visits(tmp_path)) == before
    assert len(list(tmp_path.rglob("*.*"))) == 2


def test_where_both_are_there_the_json_lines_count(tmp_path):
    log = wrote(tmp_path, RECORD, RECORD)
    segments.write([RECORD], log.with_suffix(".parquet"))
    assert len(list(read_visits(tmp_path))) == 2


def test_a_log_that_is_compacted_between_its_finding_and_its_reading_is_read_all_the_same(tmp_path):
    wrote(tmp_path, RECORD)
    reading = read_visits(tmp_path)
    compact(tmp_path)
    assert len(list(reading)) == 1


def test_a_full_disk_is_told_and_the_log_stays(tmp_path, monkeypatch):
    log = wrote(tmp_path, RECORD)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(segments, "write", full)
    (said,) = compact(tmp_path)
    assert said == f"{log} stays as it is: it could not be compacted (No space left on device)."
    assert [file.name for file in log.parent.iterdir()] == [log.name]


def test_a_line_that_is_no_record_does_not_keep_the_others_from_being_compacted(tmp_path):
    log = wrote(tmp_path, RECORD, torn=b"\0\0\0\n[1]\n" + json.dumps(RECORD).encode() + b"\n")
    segment = compact_log(log)
    assert segments.rows_in(segment) == 2
