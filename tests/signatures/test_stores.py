"""Every store keeps what it promises; the one in a file for several crawls, over crashes and for as long as asked."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.errors import SignatureStoreError
from scrapy_dust.settings import DustSettings
from scrapy_dust.signatures import sqlite_store
from scrapy_dust.signatures.copies import Face, Kind
from scrapy_dust.signatures.redis_store import RedisStore
from scrapy_dust.signatures.sqlite_store import SqliteStore
from scrapy_dust.signatures.store_interface import DAY, KeeperPage, Outline
from scrapy_dust.signatures.store_opening import open_store

A, B, C = (bytes([n]) * 16 for n in (1, 2, 3))


@pytest.fixture(params=["file", "memory", pytest.param("redis", marks=pytest.mark.e2e)])
def store(request, tmp_path):
    if request.param == "redis":
        made = RedisStore(request.getfixturevalue("redis_server"))
    else:
        made = SqliteStore(tmp_path / "pages.sqlite" if request.param == "file" else None)
    yield made
    made.close()


@pytest.mark.parametrize("written", [False, True])
def test_who_showed_it_first_keeps_it_as_long_as_he_shows_it(store, written):
    def wait():
        if written:
            store.flush()

    assert store.find(A) is None
    assert store.shown("u") is None
    store.keep("u", (A, B), Kind.CONTENT)
    wait()
    assert store.find(A) == store.find(B) == KeeperPage("u", Kind.CONTENT)
    assert store.shown("u") == (A, B)
    store.keep("v", (A, B), Kind.CONTENT, claim=False)
    wait()
    assert store.find(A) == KeeperPage("u", Kind.CONTENT)
    store.keep("u", (C,), Kind.ERROR)
    wait()
    assert store.find(C) == KeeperPage("u", Kind.ERROR)
    assert store.find(A) in (None, KeeperPage("v", Kind.CONTENT))
    store.keep("w", (A, B), Kind.CONTENT)
    wait()
    assert store.find(A).url in ("v", "w")
    store.release("u")
    wait()
    assert store.find(C) is None
    assert store.shown("u") is None


@pytest.mark.parametrize("written", [False, True])
def test_near_pages_are_found_by_any_band_until_they_change(store, written):
    shingles = np.arange(50, dtype=np.uint64)
    store.keep("u", (A, B), Kind.CONTENT)
    store.keep_near(Outline("u", Face(2**64 - 5, "http://c"), shingles), [1, 2**63 - 1])
    if written:
        store.flush()
    assert store.near([7]) == []
    (found,) = store.near([7, 2**63 - 1])
    assert (found.url, found.face) == ("u", Face(2**64 - 5, "http://c"))
    assert found.shingles.tolist() == shingles.tolist()
    store.release("u")
    store.flush()
    assert store.near([1]) == []


def test_rows_can_be_taken_over_and_purged(store, tmp_path):
    for number in range(5):
        store.keep(f"u{number}", (bytes([number]) * 16, bytes([number, 9]) * 8), Kind.CONTENT)
    rows = sorted(store.rows(), key=lambda row: row.url)
    assert [row.url for row in rows] == [f"u{number}" for number in range(5)]
    other = SqliteStore(tmp_path / "other.sqlite")
    assert other.take(rows) == 5
    assert other.take(rows) == 0
    assert sorted(other.rows(), key=lambda row: row.url) == rows
    assert store.purge(["u1", "u2", "nobody"]) == 2
    assert sorted(row.url for row in store.rows()) == ["u0", "u3", "u4"]
    assert store.find(bytes([1]) * 16) is None
    assert store.find(bytes([3]) * 16) == KeeperPage("u3", Kind.CONTENT)
    other.close()


URLS, SIGNATURES = ("u", "v", "w"), (A, B, C)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("keep"), st.sampled_from(URLS), st.sampled_from(SIGNATURES)),
        st.tuples(st.just("release"), st.sampled_from(URLS), st.none()),
        st.tuples(st.just("flush"), st.none(), st.none()),
    ),
    max_size=30,
)


@given(STEPS)
def test_it_is_a_dictionary_of_urls_whatever_is_written_when(steps):
    """The literal store: what each URL shows, and who claimed what."""
    store, shows, keeps = SqliteStore(None), {}, {}
    for what, url, signature in steps:
        if what == "flush":
            store.flush()
        elif what == "release":
            store.release(url)
            shows.pop(url, None)
        elif shows.get(keeps.get(signature)) in (None, signature) and (
            shows.get(keeps.get(signature)) is None or keeps[signature] == url
        ):
            store.keep(url, (signature,), Kind.CONTENT)
            shows[url], keeps[signature] = signature, url
        for one in SIGNATURES:
            keeper = keeps.get(one)
            expected = KeeperPage(keeper, Kind.CONTENT) if keeper and shows.get(keeper) == one else None
            assert store.find(one) == expected
        for one in URLS:
            assert store.shown(one) == ((shows[one],) if one in shows else None)
    store.close()


def test_what_was_not_seen_for_long_is_forgotten(tmp_path, monkeypatch):
    store = SqliteStore(tmp_path / "pages.sqlite", keep_days=3)
    store.keep("u", (A,), Kind.CONTENT)
    store.flush()
    now = sqlite_store._now()
    monkeypatch.setattr(sqlite_store, "_now", lambda: now + 2 * DAY)
    assert store.find(A) == KeeperPage("u", Kind.CONTENT)
    monkeypatch.setattr(sqlite_store, "_now", lambda: now + 4 * DAY)
    assert store.find(A) is None
    assert store.shown("u") is None
    store.keep("v", (A,), Kind.CONTENT)
    store.flush()
    assert store.find(A) == KeeperPage("v", Kind.CONTENT)
    store.close()


def _fill(path: str, name: str, count: int) -> None:
    store = SqliteStore(Path(path))
    for number in range(count):
        store.keep(f"{name}/{number}", (f"{name}/{number}".encode().ljust(16, b"."),), Kind.CONTENT)
        if number % 20 == 0:
            store.flush()
    store.close()


def content_settings(folder):
    return DustSettings.parse({"DUST_CONTENT_STORE": "pages.sqlite", "DUST_DIR": str(folder)})


@pytest.mark.once
def test_several_processes_write_at_once(tmp_path):
    path = tmp_path / "pages.sqlite"
    context = multiprocessing.get_context("spawn")
    crawls = [context.Process(target=_fill, args=(str(path), f"c{n}", 300)) for n in range(3)]
    for crawl in crawls:
        crawl.start()
    for crawl in crawls:
        crawl.join()
    with closing(SqliteStore(path, must_exist=True)) as store:
        (signatures,) = store._base.execute("SELECT count(*) FROM signature").fetchone()
        assert len(list(store.rows())) == signatures == 900


def test_who_begins_a_store_while_another_begins_it_waits(tmp_path):
    path = tmp_path / "pages.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        later = threading.Timer(0.3, other.execute, ("COMMIT",))
        later.start()
        SqliteStore(path).close()
        later.join()


def test_a_crawl_that_must_wait_for_another_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_store, "_PATIENCE", 10)
    monkeypatch.setattr(sqlite_store, "_PENDING", 1)
    store = SqliteStore(tmp_path / "pages.sqlite")
    other = sqlite3.connect(tmp_path / "pages.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store.keep("u", (A,), Kind.CONTENT)
    assert store.find(A) == KeeperPage("u", Kind.CONTENT)
    with pytest.raises(SignatureStoreError, match="locked"):
        store.flush()
    other.execute("COMMIT")
    store.keep("v", (B,), Kind.CONTENT)
    store.close()
    again = SqliteStore(tmp_path / "pages.sqlite")
    assert [again.find(one).url for one in (A, B)] == ["u", "v"]
    again.close()
    other.close()


def test_memory_does_not_grow_with_what_is_kept():
    store = SqliteStore(None)
    for number in range(2000):
        store.keep(f"u{number}", (number.to_bytes(16),), Kind.CONTENT)
        assert len(store._pending) <= sqlite_store._PENDING
    store.close()


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be looked at" * 40])
def test_what_is_no_store_is_refused_in_a_sentence(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(SignatureStoreError, match="no store of contents"):
        SqliteStore(tmp_path / "x")
    newer = sqlite3.connect(tmp_path / "newer")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(SignatureStoreError, match="Upgrade"):
        SqliteStore(tmp_path / "newer")
    with pytest.raises(SignatureStoreError, match="no such file"):
        SqliteStore(tmp_path / "nowhere", must_exist=True)


@pytest.mark.e2e
def test_of_two_workers_one_is_first(redis_server):
    stores = [RedisStore(redis_server) for _ in range(2)]
    for number in range(200):
        signature, found = number.to_bytes(16), []
        together = threading.Barrier(2)

        def keep(store, url, signature=signature, found=found, together=together):
            together.wait()
            found.append(store.keep(url, (signature,), Kind.CONTENT))

        workers = [
            threading.Thread(target=keep, args=(store, f"u{n}/{number}")) for n, store in enumerate(stores)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert sorted(one is None for one in found) == [False, True]
    for store in stores:
        store.close()


def test_a_password_is_not_told():
    with pytest.raises(SignatureStoreError) as raised:
        RedisStore("redis://me:secret@127.0.0.1:1/0")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("limit", [0, 4096])
def test_a_disk_that_is_full_costs_a_crawl_the_file_and_no_page(tmp_path, limit, caplog):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        with closing(open_store(content_settings(tmp_path))) as store:
            assert store.find(A) is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert "pages.sqlite" in caplog.text


def test_a_file_of_another_program_is_refused(tmp_path):
    (tmp_path / "pages.sqlite").write_text("a letter to my bank " * 100)
    with pytest.raises(SignatureStoreError):
        open_store(content_settings(tmp_path))
