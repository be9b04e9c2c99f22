"""The store of classes and of requests that are not fetched now, in the crawl's memory or in its JOBDIR.

Two kinds of requests rest here: those that wait for the URL that stands for their class, and those that rules
suppressed. Each is kept whole, so that it can be fetched after all. `LocalStore` uses SQLite, in a file of the JOBDIR, or
else in a file that SQLite removes by itself. `scrapy_dust.redis` has a store for many workers, which extends this one.

A request that cannot be written is not kept, and so is fetched. A file that cannot be read costs its content: the
file is put aside, a sentence is logged, and the crawl goes on.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from scrapy import Request, Spider

from scrapy_dust.crawl.compact_classes import Classes
from scrapy_dust.crawl.components import Latest
from scrapy_dust.crawl.life import UNKNOWN, Class, State, with_waiting
from scrapy_dust.crawl.plain_requests import Manner, from_bytes, manner_of, url_bytes
from scrapy_dust.signatures.sqlite_file import put_aside

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
#: A request that rules suppressed, with the ids of the rules.
Suppressed = tuple[tuple[str, ...], "Request"]

#: Files in a JOBDIR: of requests that rules suppressed, and of requests that belong to traps.
FILE, TRAPS_FILE = "dust-rest.sqlite", "dust-traps.sqlite"
#: The name by which SQLite knows a file that it removes by itself.
TEMPORARY = ""
#: The number of requests that are written together where no job could be killed in between.
TOGETHER = 256
#: The number of a rule's requests that are read together.
_READ = 100
#: The number of newest kept requests that are also held as objects, if they hold objects that others may hold too.
OBJECTS_HELD = 10_000

#: The number of the first new row when the disk does not say how many rows there are.
_BEYOND_ALL_ROWS = 1 << 40

_TABLES = """
CREATE TABLE IF NOT EXISTS rest (n INTEGER PRIMARY KEY AUTOINCREMENT, class BLOB, own BLOB, rules INTEGER, request BLOB);
CREATE TABLE IF NOT EXISTS rules (id INTEGER PRIMARY KEY, names TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS classes (id BLOB PRIMARY KEY, class TEXT);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT);
"""
#: How a request is found by its class or by its own name. The index for it is made with the first search: to keep an
#: index costs more than all else that a request at rest costs. The first bytes of a name tell nearly all names apart.
_INDEX = "CREATE INDEX IF NOT EXISTS rest_by_{0} ON rest (substr({0}, 1, 8))"
_FIND = "SELECT n, class, request FROM rest WHERE substr({0}, 1, 8) = substr(?1, 1, 8) AND {0} = ?1 ORDER BY n LIMIT 1"

#: A class, and the number of the URL that was let through for it.
Standing = tuple[bytes, int]

#: The number of redirects' targets whose origins are remembered: some 40 MB. A class that lands on another target is
#: taken for the first one, and has to be confirmed by its next alias as ever.
LANDINGS_REMEMBERED = 100_000


class StoreGone(Exception):
    """The store cannot be reached now. The call itself was right."""


class LocalStore:
    """The store of one process. A class is named by bytes, and a request by its own key.

    *spider* gives the spider whose methods are callbacks; *told* is called with each fault.
    """

    def __init__(
        self,
        jobdir: str | None,
        spider: Callable[[], Spider | None],
        told: Callable[[], None] = lambda: None,
        file: str = FILE,
    ) -> None:
        self._path = TEMPORARY if jobdir is None else str(Path(jobdir, file))
        self._together = TOGETHER if jobdir is None else 1
        self._spider, self._told = spider, told
        self._database: sqlite3.Connection | None = None
        self._is_broken = self._said = False
        #: Whether an earlier run of the job has lost the content of this store, or could not read it.
        self.has_lost = False
        self._classes = Classes()
        self._changed: dict[bytes, None] = {}  #: classes to be written
        self._led_here: Latest[bytes, Standing | None] = Latest(LANDINGS_REMEMBERED)
        self._rows: list[tuple[int, bytes, bytes, int, bytes]] = []
        self._last_row = 0
        #: By row. A list that several callbacks fill must be one list still when one of them is called late.
        self._objects: Latest[int, Request] = Latest(OBJECTS_HELD)
        self._rule_sets: dict[tuple[str, ...], int] = {}
        self._indexed: set[str] = set()  #: by what requests were looked for

    # -- classes

    def get(self, class_key: bytes) -> Class:
        """The class *class_key*; `UNKNOWN` if nothing is known of it."""
        return self._classes.get(class_key)

    def change(self, class_key: bytes, how: Callable[[Class], tuple[Class, Result]]) -> Result:
        """Change the class *class_key* in one step. *how* gives the new class and a result, and may be called more than once."""
        before = self._classes.get(class_key)
        after, result = how(before)
        if after is not before:
            self._put(class_key, before, after)
        return result

    def _put(self, class_key: bytes, before: Class, after: Class) -> None:
        """Replace the class *before* by *after*. Write to the disk when many classes have changed."""
        self._classes.put(class_key, before, after)
        if self._path:
            self._changed[class_key] = None
            if len(self._changed) >= TOGETHER:
                self._write()

    def waiting(self) -> Iterable[bytes]:
        """The classes for which requests wait, the longest wait first, now that no URL that stands can bring a page any more."""
        if not self._classes.waiting:
            return ()
        self._write()
        names = self._select("SELECT class FROM rest GROUP BY class ORDER BY min(n)")
        return [of for (of,) in names if self.get(of).waiting]

    def call_later(self, what: Callable[[], object]) -> None:
        """Call *what*, which raised `StoreGone`, again when the store can be reached. This store always can, and does nothing."""

    @property
    def count_waiting(self) -> int:
        """The number of requests that wait for the page of their class."""
        return self._classes.requests

    # -- requests

    def keep(
        self,
        class_key: bytes,
        own_key: bytes,
        rules: tuple[str, ...],
        request: Request,
        *,
        is_waiting: bool,
        manner: Manner | None = None,
    ) -> bool:
        """Keep *request*, named *own_key*, of the class *class_key*. False if it cannot be kept and must be fetched.

        *is_waiting*: it waits for the URL that stands for its class; else *rules* suppress it. *manner*: that of
        *request*, where it is known.
        """
        if manner is None:
            manner = manner_of(request, self._spider())
        if self._is_broken or manner.beside is None:
            return False
        kept = manner.beside + url_bytes(request)
        if manner.holds_objects and from_bytes(kept, self._spider()) is None:  # pickled, and not made again
            return False
        rule_set = self._rule_sets.get(rules)
        if rule_set is None:
            rule_set = self._try(lambda database: self._rule_set_id(database, rules), None)
            if rule_set is None:
                return False
        self._last_row += 1
        self._rows.append((self._last_row, class_key, own_key, rule_set, kept))
        if len(self._rows) >= self._together and not self._write():
            self._rows.pop()
            return False
        if manner.holds_objects:
            self._objects[self._last_row] = request
        if is_waiting:
            self._count_waiting(class_key, 1)
        return True

    def _count_waiting(self, class_key: bytes, more: int) -> None:
        """Add *more* to the number of requests that wait for the class *class_key*."""
        before = self.get(class_key)
        after = with_waiting(before, more)
        if before.state is not State.SETTLED and after != before:
            self._put(class_key, before, after)

    def take_next(self, class_key: bytes) -> Request | None:
        """Take out the request that has waited longest for the class *class_key*."""
        while (found := self._take_oldest("class", class_key)) is not None:
            request = self._objects.get(found[0]) or from_bytes(found[2], self._spider())
            self._remove(found[0])
            self._count_waiting(class_key, -1)
            if request is not None:
                return request
        before = self.get(class_key)
        self._count_waiting(class_key, -before.waiting)
        return None

    def release(self, class_key: bytes, own_key: bytes, *, stays: bool = False) -> bool:
        """Take out the request *own_key* of the class *class_key*, or leave it (*stays*). Returns whether it was kept."""
        found = self._take_oldest("own", own_key)
        if found is None or stays:
            return found is not None
        self._remove(found[0])
        if found[1] == class_key:
            self._count_waiting(class_key, -1)
        return True

    def first_origin(self, landing: bytes, origin: Standing) -> Standing | None:
        """The first class from which a redirect led to the page *landing*; None if there were several."""
        first = self._led_here.setdefault(landing, origin)
        if first is not None and first[0] != origin[0]:
            self._led_here[landing] = None
        return first

    def take_of_rule(self, rule: str) -> Iterator[Suppressed]:
        """Take out each request that *rule* suppressed, the newest first."""
        sets = {number: names for names, number in self._rule_sets.items() if rule in names}
        last = 1 << 62
        while rows := self._newest(sets, last):
            for last, number, kept in rows:
                request = self._objects.get(last)
                if not self._remove(last):
                    continue
                request = request or from_bytes(kept, self._spider())
                if request is not None:
                    yield sets[number], request

    def _newest(self, sets: Iterable[int], before: int) -> list[tuple[int, int, bytes]]:
        """Some requests, as rows, that the rule sets *sets* suppressed before the row *before*, the newest first."""
        numbers = ",".join(map(str, sets))
        where = f"rules IN ({numbers}) AND n < ?"
        newest = f"SELECT n, rules, request FROM rest WHERE {where} ORDER BY n DESC LIMIT {_READ}"  # noqa: S608  Numbers.
        self._write()
        return self._select(newest, (before,))

    def _take_oldest(self, by: str, name: bytes) -> tuple[int, bytes, bytes] | None:
        """The row that was kept first of those whose column *by* has the value *name*; None if there is none."""
        self._write()
        if by not in self._indexed:
            self._try(lambda database: database.execute(_INDEX.format(by)), None)
            self._indexed.add(by)
        find = _FIND.format(by)
        found = self._select(find, (name,))
        return found[0] if found else None

    def _remove(self, row: int) -> bool:
        """Remove the kept request in *row* of the database. Returns whether it was there."""
        self._objects.pop(row, None)
        delete = "DELETE FROM rest WHERE n = ?"
        return self._try(lambda database: database.execute(delete, (row,)).rowcount > 0, default=True)

    def _rule_set_id(self, database: sqlite3.Connection, rules: tuple[str, ...]) -> int:
        """The id of *rules* in the database, where requests refer to sets of rules."""
        names = json.dumps(rules)
        database.execute("INSERT OR IGNORE INTO rules (names) VALUES (?)", (names,))
        number: int = database.execute("SELECT id FROM rules WHERE names = ?", (names,)).fetchone()[0]
        self._rule_sets[rules] = number
        return number

    # -- facts about a job

    def fact(self, name: str) -> str | None:
        """The text that the job has saved under *name*; None if there is none."""
        found = self._select("SELECT value FROM facts WHERE name = ?", (name,))
        return str(found[0][0]) if found else None

    def put_fact(self, name: str, value: str) -> None:
        """Save the text *value* under *name*."""
        put = "INSERT OR REPLACE INTO facts VALUES (?, ?)"
        self._try(lambda database: database.execute(put, (name, value)), None)

    # -- the file

    def open(self, *, goes_on: bool) -> None:
        """Open the store and read what a job has saved. *goes_on*: the job was begun before, and so has a file."""
        if not self._path:
            return
        self.has_lost = goes_on and not _has_content(self._path)
        for name, told in self._select("SELECT id, class FROM classes"):
            with suppress(ValueError, TypeError, KeyError):
                self._put(name, UNKNOWN, class_from_json(told))
        self._changed.clear()
        rows = self._select("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'rest'")
        self._last_row = int(rows[0][0]) if rows else _BEYOND_ALL_ROWS
        sets = self._select("SELECT names, id FROM rules")
        self._rule_sets = {tuple(json.loads(names)): number for names, number in sets}

    def _select(self, query: str, arguments: tuple[object, ...] = ()) -> list[Any]:
        """The rows that *query* finds; none if the disk fails."""
        nothing: list[Any] = []
        return self._try(lambda database: database.execute(query, arguments).fetchall(), nothing)

    def close(self) -> None:
        """Write all, and close the store."""
        self._write()
        self._close_database()
        # What still comes is fetched.
        self._is_broken = True

    def _close_database(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _write(self) -> bool:
        """Write to the disk what is not written yet. Returns False if that fails; the next call tries again."""
        if not self._rows and not self._changed:
            return True
        if not self._try(self._write_to, default=False):
            return False
        self._rows.clear()
        self._changed.clear()
        return True

    def _write_to(self, database: sqlite3.Connection) -> bool:
        """Write all new requests and changed classes in one transaction."""
        with database:
            database.execute("BEGIN")
            insert = "INSERT INTO rest (n, class, own, rules, request) VALUES (?, ?, ?, ?, ?)"
            database.executemany(insert, self._rows)
            if self._changed:
                classes = ((name, class_json(self.get(name))) for name in self._changed)
                database.executemany("INSERT OR REPLACE INTO classes VALUES (?, ?)", classes)
        return True

    def _try(self, ask: Callable[[sqlite3.Connection], Result], default: Result) -> Result:
        """The result of *ask*, or *default* if the disk fails, which is logged once. A damaged file is put aside."""
        if self._is_broken:
            return default
        try:
            return ask(self._open_database())
        except (sqlite3.OperationalError, OSError) as error:
            self._note_fault(error, "What it cannot take is fetched.")
        except sqlite3.DatabaseError as error:
            self._begin_anew(error)
        return default

    def _open_database(self) -> sqlite3.Connection:
        """The open database; opened, with its tables, at the first call."""
        if self._database is None:
            self._database = database = sqlite3.connect(
                self._path, isolation_level=None, check_same_thread=False
            )
            # Of a crawl that never came to its end, too, in whichever thread that is noticed.
            weakref.finalize(self, database.close)
            # A power cut may take the last of them; a crawl that is killed loses none.
            database.execute("PRAGMA synchronous = OFF")
            database.execute("PRAGMA journal_mode = WAL" if self._path else "PRAGMA journal_mode = MEMORY")
            database.executescript(_TABLES)
        return self._database

    def _begin_anew(self, error: Exception) -> None:
        """Put the file aside, which is damaged or not SQLite's, and begin a new one."""
        self.has_lost = True
        self._close_database()
        self._note_fault(error, "It is put aside, and what it held may be fetched again.")
        self._rule_sets.clear()
        self._rows.clear()
        self._indexed.clear()
        try:
            put_aside(Path(self._path))
        except OSError:
            self._is_broken = True

    def _note_fault(self, error: Exception, so: str) -> None:
        """Count a fault of the disk, and log the first one. *so*: a sentence about what the crawl does now."""
        self._told()
        if not self._said:
            self._said = True
            said = "%s: suppressed requests cannot be kept there (%s). %s"
            where = self._path or "A temporary file"
            logger.error(said, where, error, so, extra={"spider": self._spider()})


def _has_content(path: str) -> bool:
    try:
        return Path(path).stat().st_size > 0
    except OSError:
        return False


def class_json(known: Class) -> str:
    """The class *known* as JSON, without its keeper, which this process alone can find."""
    state, standing, waiting, failed, landed_on, priority, depth, _ = known
    landed = None if landed_on is None else landed_on.hex()
    return json.dumps([state, standing, waiting, failed, landed, priority, depth])


def class_from_json(told: str | bytes) -> Class:
    """The class that `class_json` has written. Raises `ValueError`, `TypeError` or `KeyError` for any other text."""
    state, standing, waiting, failed, landed_on, priority, depth = json.loads(told)
    landed = None if landed_on is None else bytes.fromhex(landed_on)
    return Class(State(state), tuple(standing), waiting, failed, landed, priority, depth)
