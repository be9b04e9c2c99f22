"""Signatures in one SQLite file, which several crawls may use at once.

Pages wait in memory, a second at most, and are written in short transactions, so that no crawl waits
long for another; a crawl sees its own pages at once and those of others when they are written. SQLite with a
write-ahead log loses nothing committed when a process is killed.

    page       a row each, in the order they were first seen; found by a hash of the URL
    signature  128 bits → page; stands only as long as its page has it
    near       shingles of pages, and band → page, where near-duplicates are looked for
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from xxhash import xxh3_64_intdigest

from scrapy_dust.errors import SignatureStoreError
from scrapy_dust.signatures.copies import Face, Kind
from scrapy_dust.signatures.pending_pages import Pending
from scrapy_dust.signatures.sqlite_file import SqliteFile
from scrapy_dust.signatures.store_interface import (
    DAY,
    KINDS,
    MOST_CANDIDATES,
    KeeperPage,
    Outline,
    Row,
    Signatures,
)

FORMAT = 1
#: Kept pages wait for so many, or so long, until they are written.
_PENDING, _SECONDS = 500, 1.0
#: The most pages that wait in a crawl that cannot write them.
_MOST_PENDING = 50_000
#: How long to wait for another crawl's transaction, in seconds.
_PATIENCE = 2.0
_CACHE_KB = 64 * 1024

_NO_STORE = "this is no store of contents. Name the file that a crawl with DUST_CONTENT_STORE has made."

_TABLES = frozenset(("page", "signature", "near", "band"))
_SCHEMA = """
CREATE TABLE page (
    id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, url TEXT NOT NULL, body BLOB, text BLOB,
    kind INTEGER NOT NULL, seen INTEGER NOT NULL);
CREATE INDEX page_by_url ON page (hash);
CREATE TABLE signature (digest BLOB PRIMARY KEY, page INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE near (page INTEGER PRIMARY KEY, heading INTEGER NOT NULL, canonical TEXT, shingles BLOB NOT NULL);
CREATE TABLE band (key INTEGER, page INTEGER, PRIMARY KEY (key, page)) WITHOUT ROWID;
"""
_FIND = """
SELECT page.url, page.kind FROM signature JOIN page ON page.id = signature.page
WHERE signature.digest = :digest AND (page.body = :digest OR page.text = :digest) AND page.seen >= :oldest
"""
_OF_URL = "SELECT id, body, text, kind, seen FROM page WHERE hash = ? AND url = ?"
# Whoever was first keeps it, as long as it shows it.
_CLAIM = """
INSERT INTO signature (digest, page) VALUES (:digest, :page)
ON CONFLICT (digest) DO UPDATE SET page = excluded.page
WHERE NOT EXISTS (
    SELECT 1 FROM page
    WHERE page.id = signature.page AND (page.body = :digest OR page.text = :digest) AND page.seen >= :oldest)
"""
_NEAR = """
SELECT page.url, near.heading, near.canonical, near.shingles
FROM near JOIN page ON page.id = near.page
WHERE near.page IN (SELECT band.page FROM band WHERE band.key IN ({}))
AND page.seen >= ? AND page.text IS NOT NULL LIMIT {}
"""


class SqliteStore(SqliteFile):
    """A store of signatures in a SQLite file at *path*; None: in a temporary file that ends with the process."""

    def __init__(self, path: Path | None, keep_days: int | None = None, *, must_exist: bool = False) -> None:
        self._days, self._must_exist = keep_days, must_exist
        if must_exist and path is not None and not path.is_file():
            raise SignatureStoreError(
                str(path), "there is no such file. A crawl with DUST_CONTENT_STORE makes it."
            )
        self._pending = Pending()
        self._written = time.monotonic()
        super().__init__(path, _PATIENCE)

    def find(self, signature: bytes) -> KeeperPage | None:
        """The keeper of *signature*; None if there is none."""
        pending = self._pending.keeper(signature)
        if pending is not None:
            return pending
        with self._errors_in_words():
            found = self._base.execute(_FIND, {"digest": signature, "oldest": self._oldest_time()}).fetchone()
        # What waits to be written is newer.
        if found is None or found[0] in self._pending.rows:
            return None
        return KeeperPage(found[0], KINDS[found[1]])

    def shown(self, url: str) -> Signatures | None:
        """The signatures that *url* showed last; None where the store does not know the URL."""
        if url in self._pending.rows:
            return self._pending.rows[url].signatures or None
        with self._errors_in_words():
            found = self._base.execute(_OF_URL, (_url_hash(url), url)).fetchone()
        if found is None or found[4] < self._oldest_time():
            return None
        return _signatures(found[1], found[2]) or None

    def keep(self, url: str, signatures: Signatures, kind: Kind, *, claim: bool = True) -> KeeperPage | None:
        """Save, with the next transaction, that *url* shows a content with these *signatures*.

        *claim*: this page becomes the keeper of signatures that have none. Without it, only signatures that it had
        are handed on.
        """
        self._pending.add(Row(url, signatures, kind, _now()), claim=claim)
        self._flush_if_due()
        return None

    def release(self, url: str) -> None:
        """Forget what *url* shows, so that the next page with its content becomes the keeper."""
        self._pending.add(Row(url, (), Kind.LITTLE, _now()))
        self._flush_if_due()

    def near(self, bands: Sequence[int]) -> list[Outline]:
        """The outlines of pages that share one of *bands*: candidates for near-duplicates."""
        query = _NEAR.format(",".join("?" * len(bands)), MOST_CANDIDATES)
        with self._errors_in_words():
            found = self._base.execute(query, (*bands, self._oldest_time())).fetchall()
        outlines = {url: _outline(url, *more) for url, *more in found if url not in self._pending.rows}
        outlines |= {one.url: one for one in self._pending.near(bands)}
        return list(outlines.values())[-MOST_CANDIDATES:]

    def keep_near(self, outline: Outline, bands: Sequence[int]) -> None:
        """Save the *outline* of a page, so that `near` finds it by each of *bands*."""
        self._pending.add_near(outline, bands)

    def flush(self) -> None:
        """Write all pages that wait in memory, so that a crash loses none of them."""
        if self._pending:
            with self._errors_in_words(), self._transaction():
                self._write(self._pending.rows.values())
                self._write_near()
            self._pending.clear()
        self._written = time.monotonic()

    def close(self) -> None:
        """Write what waits in memory, and close the file."""
        try:
            self.flush()
        finally:
            with self._errors_in_words():
                self._base.close()

    def rows(self) -> Iterator[Row]:
        """All pages of the store, those that still wait in memory too."""
        self.flush()
        with self._errors_in_words():
            query = "SELECT url, body, text, kind, seen FROM page WHERE body IS NOT NULL OR text IS NOT NULL"
            for url, body, text, kind, seen in self._base.execute(query):
                yield Row(url, _signatures(body, text), KINDS[kind], seen)

    def take(self, rows: Iterable[Row]) -> int:
        """Add the pages *rows* of another store, unless this store has seen them later. Returns how many were added."""
        taken = 0
        with self._errors_in_words(), self._transaction():
            for row in rows:
                known = self._base.execute(_OF_URL, (_url_hash(row.url), row.url)).fetchone()
                if known is None or known[4] < row.seen:
                    self._write([row])
                    taken += 1
        return taken

    def purge(self, urls: Iterable[str]) -> int:
        """Forget *urls*, and shrink the file. Raises `SignatureStoreError`."""
        self.flush()
        with self._errors_in_words():
            with self._transaction():
                self._base.execute("CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY)")
                into = "INSERT OR IGNORE INTO gone SELECT id FROM page WHERE hash = ? AND url = ?"
                self._base.executemany(into, ((_url_hash(url), url) for url in urls))
                (count,) = self._base.execute("SELECT count(*) FROM gone").fetchone()
                for column in ("signature WHERE page", "band WHERE page", "near WHERE page", "page WHERE id"):
                    self._base.execute(f"DELETE FROM {column} IN (SELECT id FROM gone)")  # noqa: S608
            self._base.execute("DROP TABLE gone")
            self._base.execute("VACUUM")
        return int(count)

    def _refuse_other_files(self) -> None:
        """Raise `SignatureStoreError` where the file is another program's, before anything is written to it."""
        (version,) = self._base.execute("PRAGMA user_version").fetchone()
        tables = {
            name for (name,) in self._base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        is_ours = tables >= _TABLES if tables or self._must_exist else version == 0
        if version <= FORMAT and not is_ours:
            raise SignatureStoreError(str(self.path), _NO_STORE)

    def _prepare(self) -> None:
        self._refuse_other_files()
        self._base.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        if self.path is None:
            self._base.execute("PRAGMA journal_mode = OFF")
            self._base.execute("PRAGMA synchronous = OFF")
        else:
            self._use_write_ahead_log()
            self._base.execute("PRAGMA synchronous = NORMAL")
        self._create_tables(FORMAT, _SCHEMA)

    def _use_write_ahead_log(self) -> None:
        """Turn the write-ahead log on. Raises SQLite's error if other crawls keep the file busy for too long."""
        # SQLite's time-out does not hold here: of several that change the mode at once, all but one are refused at once.
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                self._base.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return

    def _flush_if_due(self) -> None:
        """Write the pages that wait, if they are many or wait for long. If that fails for too many, they are dropped, and it raises."""
        late = time.monotonic() - self._written >= _SECONDS
        if late or len(self._pending) >= _PENDING:
            try:
                self.flush()
            except SignatureStoreError:
                # Another crawl may be writing; what waits is tried again with the next page, or in a second.
                self._written = time.monotonic()
                if len(self._pending) >= _MOST_PENDING:
                    self._pending.clear()
                    raise

    def _write(self, rows: Iterable[Row]) -> None:
        """Write *rows*, and let their pages become the keepers of signatures without one."""
        (last,) = self._base.execute("SELECT coalesce(max(id), 0) FROM page").fetchone()
        new, changed, claims = [], [], []
        for row in rows:
            hashed = _url_hash(row.url)
            known = self._base.execute(_OF_URL, (hashed, row.url)).fetchone()
            body, text = (row.signatures[0], row.signatures[-1]) if row.signatures else (None, None)
            if known is None:
                last = page = last + 1
                new.append((page, hashed, row.url, body, text, KINDS.index(row.kind), row.seen))
            else:
                page = known[0]
                if (body, text) != known[1:3]:
                    self._base.execute("DELETE FROM near WHERE page = ?", (page,))
                changed.append((body, text, KINDS.index(row.kind), row.seen, page))
            claims += [(signature, page) for signature in set(row.signatures)]
        run = self._base.executemany
        run("INSERT INTO page VALUES (?, ?, ?, ?, ?, ?, ?)", new)
        run("UPDATE page SET body = ?, text = ?, kind = ?, seen = ? WHERE id = ?", changed)
        # In order, so that neighbours are written together.
        oldest = self._oldest_time()
        run(_CLAIM, ({"digest": of, "page": page, "oldest": oldest} for of, page in sorted(claims)))

    def _write_near(self) -> None:
        """Write the outlines that wait, with their bands."""
        for outline, bands in self._pending.outlines.values():
            known = self._base.execute(_OF_URL, (_url_hash(outline.url), outline.url)).fetchone()
            if known is None:
                continue
            heading = _as_signed(outline.face.heading)
            row = (known[0], heading, outline.face.canonical, outline.shingles.astype("<u8").tobytes())
            self._base.execute("INSERT OR REPLACE INTO near VALUES (?, ?, ?, ?)", row)
            pairs = [(band, known[0]) for band in bands]
            self._base.executemany("INSERT OR IGNORE INTO band VALUES (?, ?)", pairs)

    def _oldest_time(self) -> int:
        """The time before which pages count as forgotten; 0 if none are."""
        return 0 if self._days is None else _now() - self._days * DAY

    def _in_words(self, error: sqlite3.Error | OSError) -> str:
        if isinstance(error, OSError):
            return (
                f"cannot be read or written ({error.strerror or error}). Check the path and its permissions."
            )
        return _NO_STORE if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB else f"{error}."


def _now() -> int:
    return int(time.time())


def _as_signed(number: int) -> int:
    """*number*, of 64 bits, as SQLite stores it: signed."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _url_hash(url: str) -> int:
    return _as_signed(xxh3_64_intdigest(url.encode("utf-8", "surrogatepass")))


def _signatures(body: bytes | None, text: bytes | None) -> Signatures:
    return tuple(dict.fromkeys(one for one in (body, text) if one is not None))


def _outline(url: str, heading: int, canonical: str | None, shingles: bytes) -> Outline:
    face = Face(heading % (1 << 64), canonical)
    return Outline(url, face, np.frombuffer(shingles, "<u8").astype(np.uint64))
