"""A SQLite file that several crawls may use at once: its transactions, its format, and its faults in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scrapy_dust.errors import SignatureStoreError


class SqliteFile:
    """The base of stores in a file at *path*; None: in a temporary file that ends with the process."""

    def __init__(self, path: Path | None, patience: float, advice: str = "") -> None:
        """*patience*: seconds for another crawl's transaction; *advice*: what to do where the file fails."""
        self.path, self._advice = path, advice
        with self._errors_in_words():
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(
                path or "", timeout=patience, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._base.close()
                raise

    def _prepare(self) -> None:
        """Make the file what this version reads. Raises `SignatureStoreError`, and what SQLite raises."""
        raise NotImplementedError

    def _create_tables(self, version: int, schema: str) -> None:
        """Make the tables of *schema* in a new file. Raises `SignatureStoreError` for a file of a later *version*."""
        with self._transaction():
            (found,) = self._base.execute("PRAGMA user_version").fetchone()
            if found > version:
                why = f"it has format {found}; this version reads up to {version}. Upgrade scrapy-dust."
                raise SignatureStoreError(str(self.path), why)
            if found == 0:
                for statement in filter(str.strip, f"{schema}PRAGMA user_version = {version}".split(";")):
                    self._base.execute(statement)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """A write transaction, undone by any exception."""
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        """Raise errors of SQLite and of the disk as `SignatureStoreError`."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            where = str(self.path or "the store of this crawl")
            raise SignatureStoreError(where, self._in_words(error)) from error

    def _in_words(self, error: sqlite3.Error | OSError) -> str:
        return f"{error}. {self._advice}"


def put_aside(path: Path) -> None:
    """Give the SQLite file at *path*, which is damaged, and the files beside it another name. Raises `OSError`."""
    for suffix in ("", "-wal", "-shm"):
        one = Path(f"{path}{suffix}")
        if one.exists():
            one.replace(f"{one}.broken")
