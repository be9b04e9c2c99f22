"""The work of ``scrapy dustpages``, which looks after a store of contents."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from scrapy.utils.log import configure_logging

from scrapy_dust.commands.output import printable
from scrapy_dust.commands.suggestions import remedy
from scrapy_dust.commands.tables import table
from scrapy_dust.settings import DustSettings
from scrapy_dust.signatures.copies import Kind
from scrapy_dust.signatures.redis_store import RedisStore
from scrapy_dust.signatures.sqlite_store import SqliteStore
from scrapy_dust.signatures.store_interface import DAY, Row
from scrapy_dust.signatures.store_opening import AnyStore, is_redis, store_path
from scrapy_dust.sites import site_of

#: Of the sites that were not asked for.
_OTHERS_KEPT = 1000


@contextmanager
def open_context(project: Settings, opts: argparse.Namespace) -> Iterator[Context]:
    """Open the store that the options name. Raises `ValueError` for a wrong value, `DustError` without a store."""
    # Stdout is for results, whatever a project wants its crawls to do with it.
    project.set("LOG_STDOUT", False, priority="cmdline")
    configure_logging(project)
    settings = DustSettings.from_settings(project)
    older = opts.older
    if older is not None and not (older.isdecimal() and int(older) > 0):
        raise ValueError(f"--older must be a number of days of at least 1, got {older!r}.")
    if opts.store is not None:
        store = _open_store(opts.store)
    elif settings.content_store is None:
        raise ValueError("no store is named: set DUST_CONTENT_STORE, or say --store.")
    elif is_redis(settings.content_store):
        store = _open_store(settings.content_store)
    else:
        store = _open_store(str(store_path(settings.content_store, settings.dir)))
    with closing(store):
        yield Context(store, opts.site, None if older is None else int(older), opts.json)


def _open_store(where: str) -> AnyStore:
    return RedisStore(where) if is_redis(where) else SqliteStore(Path(where), must_exist=True)


@dataclass(frozen=True, slots=True)
class Context:
    """The context of all actions of ``scrapy dustpages``: the open store, and which of its pages are meant."""

    store: AnyStore
    site: str | None
    older: int | None  #: days
    as_json: bool

    def list(self) -> None:
        """Print all pages of the store that the options select."""
        for row in sorted(self._selected_pages(), key=lambda row: row.url):
            self._print_page(row)

    def find(self, *urls: str) -> None:
        """Print the pages with these *urls*."""
        wanted = set(urls)
        for row in self._selected_pages():
            if row.url in wanted:
                self._print_page(row)

    def stats(self) -> None:
        """Print how many pages of each kind the store has of each site."""
        counts: dict[str, Counter[Kind]] = {}
        for row in self._selected_pages():
            counts.setdefault(site_of(row.url) or "", Counter())[row.kind] += 1
        kinds = (Kind.CONTENT, Kind.LITTLE, Kind.ERROR)
        if self.as_json:
            for site, of_site in sorted(counts.items()):
                print(json.dumps({"site": site, **{str(kind): of_site[kind] for kind in kinds}}))
            return
        rows = [
            [site, *(str(of_site[kind]) for kind in kinds)]
            for site, of_site in sorted(counts.items(), key=lambda one: (-one[1].total(), one[0]))
        ]
        rows.append(["all", *(str(sum(of_site[kind] for of_site in counts.values())) for kind in kinds)])
        print(table(["site", "content", "little", "errors"], rows, right={1, 2, 3}))

    def merge(self, *others: str) -> None:
        """Add the pages of *others*, paths of stores."""
        for where in others:
            with closing(_open_store(where)) as other:
                self._print_count("taken", where, self.store.take(other.rows()))
        self.store.flush()

    def purge(self, *urls: str) -> None:
        """Remove from the store the pages with these *urls*; without URLs, all pages that the options select."""
        if not urls and self.site is None and self.older is None:
            raise UsageError("say what to purge: URLs, --site HOST, --older DAYS, or both.", print_help=False)
        wanted = set(urls)
        gone = [row.url for row in self._selected_pages() if not wanted or row.url in wanted]
        self._print_count("purged", "", self.store.purge(gone))

    def _selected_pages(self) -> Iterator[Row]:
        """The pages that the options select. If the store has none of the site, a sentence on stderr says so."""
        latest = int(time.time()) - (self.older or 0) * DAY
        others: dict[str, None] = {}
        is_known = False
        for row in self.store.rows():
            if self.site is not None and (site := site_of(row.url)) != self.site:
                if len(others) < _OTHERS_KEPT:
                    others[site or ""] = None
                continue
            is_known = True
            if self.older is None or row.seen < latest:
                yield row
        if self.site is not None and not is_known:
            meant = remedy(self.site, others)
            said = f"scrapy dustpages: no page of the site {self.site!r} is in this store. {meant}".rstrip()
            print(printable(said), file=sys.stderr)

    def _print_page(self, row: Row) -> None:
        seen = datetime.fromtimestamp(row.seen, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        signatures = [signature.hex() for signature in row.signatures]
        if self.as_json:
            print(json.dumps({"url": row.url, "kind": str(row.kind), "seen": seen, "signatures": signatures}))
        else:
            print(f"{seen}  {row.kind:<7}  {signatures[-1]}  {printable(row.url)}")

    def _print_count(self, what: str, where: str, count: int) -> None:
        """Print how many pages were *what* (``merged``, say), and from *where*, if that is no empty text."""
        if self.as_json:
            print(json.dumps({what: count, "from": where} if where else {what: count}))
        else:
            print(f"{count} pages {what}{f' from {where}' if where else ''}.")
