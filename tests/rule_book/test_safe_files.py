"""Writers that are killed, writers that meet, and what a file must keep."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import Entry, RuleBook, Status, in_project, safe_files, update
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.rule_book.books import INDEX, SITE, WWW, book

BOOK = "dust-rules.json"


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """*program* in a process of its own, once it says that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


SAVE_FOR_EVER = """
import sys
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rule_book import Entry, RuleBook
small, large = (
    RuleBook().with_site("a.example", [Entry(Rule.of(DropParameter(f"p{i}"))) for i in range(count)]) for count in (30, 600)
)
small.save(sys.argv[1])
print("ready", flush=True)
while True:
    large.save(sys.argv[1])
    small.save(sys.argv[1])
"""


@pytest.mark.once
def test_a_writer_that_is_killed_leaves_the_old_book_or_the_new_one(tmp_path):
    path, chance = tmp_path / BOOK, random.Random(7)
    for _ in range(20):
        process = start(SAVE_FOR_EVER, path)
        time.sleep(chance.uniform(0, 0.05))
        end(process)
        assert len(RuleBook.load([str(path)], missing_ok=False).entries(SITE)) in {30, 600}
    book(Entry(WWW)).save(path)
    assert [file.name for file in tmp_path.iterdir()] == [BOOK]


ADD_ONE_BY_ONE = """
import sys
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rule_book import Entry, update
print("ready", flush=True)
for i in range(25):
    entry = Entry(Rule.of(DropParameter(sys.argv[2] + str(i))))
    update(sys.argv[1], lambda book: book.merge("a.example", [entry]), patience=60)
"""


@pytest.mark.once
def test_two_processes_that_update_a_book_lose_nothing_of_each_other(tmp_path):
    path = tmp_path / BOOK
    writers = [start(ADD_ONE_BY_ONE, path, name) for name in "ab"]
    for writer in writers:
        assert writer.wait() == 0
        end(writer)
    names = {entry.rule.dropped_parameter for entry in RuleBook.load([str(path)]).entries(SITE)}
    assert names == {f"{name}{i}" for name in "ab" for i in range(25)}
    assert [file.name for file in tmp_path.iterdir()] == [BOOK]


HOLD = """
import sys, time
from scrapy_dust.rule_book import safe_files
with safe_files.lock(sys.argv[1]):
    print("ready", flush=True)
    time.sleep(600)
"""


def test_a_writer_waits_for_another_but_not_for_ever_and_not_for_a_dead_one(tmp_path):
    path = tmp_path / BOOK
    holder = start(HOLD, path)
    with pytest.raises(RuleBookError) as caught:
        book(Entry(WWW)).save(path, patience=0.1)
    assert str(caught.value) == (
        f"{path}: another process has been writing it for 0.1 s. Try again when it is done."
    )
    end(holder)
    book(Entry(WWW)).save(path, patience=0.1)
    assert RuleBook.load([str(path)]) == book(Entry(WWW))


def test_a_lock_on_a_file_whose_name_is_gone_or_anothers_is_none(tmp_path):
    beside = tmp_path / ".dust-rules.json.lock"
    with beside.open("xb") as locked:
        assert safe_files._is_locked_file(beside, locked.fileno())
        beside.unlink()
        assert not safe_files._is_locked_file(beside, locked.fileno())
        beside.touch()
        assert not safe_files._is_locked_file(beside, locked.fileno())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no such permissions")
def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / BOOK, tmp_path / "link.json"
    book(Entry(WWW)).save(path)
    path.chmod(0o640)
    link.symlink_to(path)
    book(Entry(INDEX)).save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert RuleBook.load([str(path)]) == book(Entry(INDEX))


def test_a_new_book_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "other").touch()
    book(Entry(WWW)).save(tmp_path / BOOK)
    assert (tmp_path / BOOK).stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_place_that_cannot_be_written_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(RuleBookError) as caught:
        RuleBook().save(tmp_path / "none" / BOOK)
    folder = str(tmp_path / "none")
    assert str(caught.value) == (
        f"{tmp_path / 'none' / BOOK}: cannot be written, the folder {folder!r} does not exist. Make it first."
    )
    (tmp_path / BOOK).mkdir()
    with pytest.raises(RuleBookError, match=r"cannot be written \(Is a directory\)"):
        RuleBook().save(tmp_path / BOOK)
    assert [file.name for file in tmp_path.iterdir()] == [BOOK]


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write what is read-only")
def test_a_book_that_is_read_only_is_not_replaced(tmp_path):
    path = tmp_path / BOOK
    book(Entry(WWW)).save(path)
    path.chmod(0o444)
    with pytest.raises(RuleBookError, match="it is read-only"):
        RuleBook().save(path)


def test_an_update_that_changes_nothing_does_not_touch_the_file(tmp_path):
    path = tmp_path / BOOK
    path.write_text(json.dumps({"sites": {}, "format": 3}))
    before = path.read_bytes()
    update(path, lambda known: known.merge(SITE, []))
    assert path.read_bytes() == before


def test_an_update_puts_its_change_into_the_book_as_it_is_by_then(tmp_path):
    path = tmp_path / BOOK
    book(Entry(WWW)).save(path)
    mined_with = RuleBook.load([str(path)])
    update(path, lambda known: known.with_status(SITE, WWW, Status.DISABLED))
    assert mined_with.entries(SITE)[0].status is Status.VALID
    after = update(path, lambda known: known.merge(SITE, [Entry(WWW), Entry(Rule.of(DropParameter("sid")))]))
    assert after == RuleBook.load([str(path)])
    assert after.rules_by_site() == {SITE: (Rule.of(DropParameter("sid")),)}


def test_an_update_of_a_damaged_book_leaves_it_as_it_is(tmp_path):
    path = tmp_path / BOOK
    path.write_bytes(b"{")
    with pytest.raises(RuleBookError, match="is not JSON"):
        update(path, lambda known: known)
    assert path.read_bytes() == b"{"


def test_settings_mean_the_folder_of_the_project(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    absolute = str(tmp_path / "elsewhere.json")
    assert in_project(BOOK) == BOOK
    (tmp_path / "scrapy.cfg").touch()
    assert Path(in_project(BOOK)) == tmp_path / BOOK
    assert in_project(absolute) == absolute
    assert in_project("s3://bucket/rules.json") == "s3://bucket/rules.json"


def test_a_uri_has_no_lock():
    with pytest.raises(RuleBookError, match="Give a path first in DUST_RULES"), safe_files.lock("s3://a/b"):
        pass
