"""Pages that earlier crawls have taken, in one SQLite file, which several spiders and crawls may use at once.

    page      a row for each URL that a spider has taken a page from: what its callback made of it, and when
    callback  how requests are handled that have led to further requests
    spider    the version of the rules by which the keys of its pages were made

A page is found by the key of its class. When the rules change, keys are made anew from the URLs that were fetched: pages that a
false rule took for one are two again as soon as the rule is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from scrapy_dust.signatures.sqlite_file import SqliteFile

FORMAT = 1
#: How long to wait for another crawl's transaction, in seconds.
_PATIENCE = 10.0
_ADVICE = "Remove the file, and all pages are fetched again, or mend its permissions."
_SCHEMA = """
CREATE TABLE page (
    spider TEXT, own BLOB, key BLOB, url TEXT, handled TEXT, is_plain INTEGER, items INTEGER, requests INTEGER,
    seen INTEGER, PRIMARY KEY (spider, own)) WITHOUT ROWID;
CREATE INDEX page_by_key ON page (spider, key);
CREATE TABLE callback (spider TEXT, handled TEXT, PRIMARY KEY (spider, handled)) WITHOUT ROWID;
CREATE TABLE spider (name TEXT PRIMARY KEY, version TEXT) WITHOUT ROWID;
"""

#: The key of a plain request to a URL that is handled in this way.
KeyOf = Callable[[str, str], bytes]


@dataclass(frozen=True, slots=True)
class TakenPage:
    """A page that a spider has taken, with its key and what its callback made of it."""

    own: bytes  #: names the request where no rule is asked
    key: bytes  #: names its class
    url: str
    handled: str  #: how the spider handles it
    is_plain: bool  #: a request that has nothing but this URL has these names too
    items: int  #: that came out of the pipelines
    requests: int  #: that the callback made
    seen: int  #: when, in seconds


class KnownPages(SqliteFile):
    """The pages that one spider has taken, in the file at *path*. Raises `SignatureStoreError`."""

    def __init__(self, path: Path, spider: str) -> None:
        super().__init__(path, _PATIENCE, _ADVICE)
        self._spider = spider
        with self._errors_in_words():
            asked = self._base.execute("SELECT handled FROM callback WHERE spider = ?", (spider,))
            self._lead_on = {handled for (handled,) in asked}

    def _prepare(self) -> None:
        self._create_tables(FORMAT, _SCHEMA)

    def of_class(self, key: bytes, since: int) -> list[TakenPage]:
        """The pages of the class *key* that were taken since the time *since*."""
        columns = ", ".join(field.name for field in fields(TakenPage))
        query = f"SELECT {columns} FROM page WHERE spider = ? AND key = ? AND seen >= ?"  # noqa: S608  Our own names.
        with self._errors_in_words():
            return [TakenPage(*row) for row in self._base.execute(query, (self._spider, key, since))]

    def leads_on(self, handled: str) -> bool:
        """Whether callbacks of requests with the handling name *handled* have ever made further requests."""
        return handled in self._lead_on

    def save_leads_on(self, handled: Iterable[str]) -> None:
        """Remember that callbacks of requests with the handling names *handled* have made further requests."""
        new = set(handled) - self._lead_on
        self._lead_on |= new
        with self._errors_in_words(), self._transaction():
            rows = [(self._spider, one) for one in sorted(new)]
            self._base.executemany("INSERT OR IGNORE INTO callback VALUES (?, ?)", rows)

    def add(self, pages: Iterable[TakenPage]) -> None:
        """Save *pages*."""
        with self._errors_in_words(), self._transaction():
            rows = [(self._spider, *astuple(page)) for page in pages]
            self._base.executemany("INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def rename_keys(self, version: str, key_of: KeyOf) -> None:
        """Make all keys anew, if they were made by other rules than those of *version*. Pages without a key are forgotten."""
        with self._errors_in_words(), self._transaction():
            made_by = "SELECT version FROM spider WHERE name = ?"
            if self._base.execute(made_by, (self._spider,)).fetchone() == (version,):
                return
            query = "SELECT own, url, handled FROM page WHERE spider = ? AND is_plain"
            plain = self._base.execute(query, (self._spider,)).fetchall()
            made = [(key_of(url, handled), self._spider, own) for own, url, handled in plain]
            self._base.executemany("UPDATE page SET key = ? WHERE spider = ? AND own = ?", made)
            self._base.execute("DELETE FROM page WHERE spider = ? AND NOT is_plain", (self._spider,))
            self._base.execute("INSERT OR REPLACE INTO spider VALUES (?, ?)", (self._spider, version))

    def forget_before(self, seen: int) -> None:
        """Forget pages taken before the time *seen*."""
        with self._errors_in_words():
            self._base.execute("DELETE FROM page WHERE spider = ? AND seen < ?", (self._spider, seen))

    def close(self) -> None:
        """Close the file."""
        with self._errors_in_words():
            self._base.close()
