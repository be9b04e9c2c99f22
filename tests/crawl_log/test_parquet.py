from __future__ import annotations

import builtins
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.visits.pages import Visit

pa = pytest.importorskip("pyarrow", reason="Parquet is read with pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
NOW = datetime(2026, 11, 18, 7, 24, 36, tzinfo=UTC)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parquet")


def written(folder, columns, name="some.parquet", **options):
    path = folder / name
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_named_columns_are_the_fields_of_a_url_list(folder):
    path = written(
        folder,
        {
            "URL": ["http://a.test/1", "http://a.test/2", None],
            "status": pa.array([200, None, 200], pa.int16()),
            "size": [5.0, float("nan"), 1.0],
            "sketch": [[1, 2, 3, 4], None, []],
            "title": ["T", None, ""],
            "fetched_at": [NOW, None, None],
            "digest": [b"d", None, None],
            "other": [{"x": 1}, None, None],
        },
    )
    reading = read_visits(path)
    assert list(reading) == [
        Visit(
            "http://a.test/1",
            200,
            (5, 5),
            (1, 2, 3, 4),
            "d",
            title="T",
            fetched_at="2026-11-18T07:24:36Z",
        ),
        Visit("http://a.test/2"),
    ]
    assert [(bad.line, bad.reason) for bad in reading.unreadable] == [(3, "no 'url'")]


def test_size_may_be_a_range(folder):
    path = written(folder, {"url": ["http://a.test/"], "size": [[5, 7]]})
    assert [visit.size for visit in read_visits(path, "parquet")] == [(5, 7)]


def test_common_crawls_index_is_known_by_its_columns(folder):
    path = written(
        folder,
        {
            "url_surtkey": ["test,a)/1", "test,a)/2", "test,a)/3"],
            "url": ["http://a.test/1", "http://a.test/2", "http://a.test/3"],
            "fetch_time": [NOW] * 3,
            "fetch_status": pa.array([200, 301, 200], pa.int16()),
            "fetch_redirect": [None, "http://a.test/1", None],
            "content_digest": ["RRYC", "QQQQ", "TTTT"],
            "content_mime_type": ["text/html"] * 3,
            "content_mime_detected": ["text/html", None, "text/html"],
            "content_truncated": [None, None, "length"],
            "warc_record_length": [1043, 333, 9],
        },
    )
    time = "2026-11-18T07:24:36Z"
    expected = [
        Visit("http://a.test/1", 200, digest="RRYC", content_type="text/html", fetched_at=time),
        Visit("http://a.test/2", 301, digest="QQQQ", redirect_to="http://a.test/1", fetched_at=time),
        Visit("http://a.test/3", 200, content_type="text/html", fetched_at=time),
    ]
    for log_format in ("auto", "parquet", "cc-index"):
        assert list(read_visits(path, log_format)) == expected


def test_columns_that_are_missing_are_said(folder):
    path = written(folder, {"address": ["x"]})
    with pytest.raises(CrawlLogError, match="it has no column 'url'"):
        list(read_visits(path))
    with pytest.raises(CrawlLogError, match="it has no 'url' and 'fetch_status'"):
        list(read_visits(path, "cc-index"))


def test_memory_is_that_of_a_few_rows(folder):
    path = written(folder, {"url": [f"http://a.test/{n}" for n in range(10_000)]}, row_group_size=3000)
    reading = read_visits(path)
    assert sum(1 for _ in reading) == reading.records == 10_000


@given(st.data())
def test_a_file_that_is_torn_or_damaged_is_said_to_be(folder, data):
    path = written(folder, {"url": [f"http://a.test/{n}" for n in range(500)]}, row_group_size=100)
    whole = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        whole = whole[: data.draw(st.integers(4, len(whole) - 1))]
    else:
        for _ in range(5):
            whole[data.draw(st.integers(4, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    path = folder / "damaged.parquet"
    path.write_bytes(bytes(whole))
    reading = read_visits(path)
    with suppress(CrawlLogError):
        assert sum(1 for _ in reading) <= 500
    assert reading.records <= 500


def test_without_pyarrow_it_is_said_what_to_install(folder, monkeypatch):
    path = written(folder, {"url": ["http://a.test/"]})
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(CrawlLogError, match=r"needs pyarrow.*pip install scrapy-dust\[parquet\]"):
        list(read_visits(path))
