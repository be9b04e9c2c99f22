"""``scrapy dustpages``: what a store has, taken together and forgotten."""

from __future__ import annotations

import argparse
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from scrapy_dust.commands.dustpages import Command
from scrapy_dust.signatures import sqlite_store
from scrapy_dust.signatures.copies import Kind
from scrapy_dust.signatures.sqlite_store import SqliteStore
from scrapy_dust.signatures.store_interface import DAY

PAGES = {
    "http://www.a.example/": Kind.CONTENT,
    "http://a.example/2": Kind.LITTLE,
    "http://b.example/\x1b[31m": Kind.CONTENT,
}


@pytest.fixture
def stored(tmp_path):
    def store(name="pages.sqlite", pages=PAGES):
        made = SqliteStore(tmp_path / name)
        for number, (url, kind) in enumerate(pages.items()):
            made.keep(url, (number.to_bytes(16), (number + 100).to_bytes(16)), kind)
        made.close()
        return str(tmp_path / name)

    return store


@pytest.fixture
def dustpages(capsys):
    """The command as Scrapy runs it, but for its process: its exit status, stdout and stderr."""

    def run(*arguments, **settings):
        command = Command()
        command.settings = Settings(settings)
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        opts, args = parser.parse_known_args(arguments)
        command.run(args, opts)
        said = capsys.readouterr()
        return command.exitcode, said.out, said.err

    return run


def test_it_lists_counts_and_finds(stored, dustpages):
    store = stored()
    status, out, _ = dustpages("list", "--store", store)
    assert status == 0
    assert [line.split()[1:] for line in out.splitlines()] == [
        ["little", "65".rjust(32, "0"), "http://a.example/2"],
        ["content", "66".rjust(32, "0"), "http://b.example/\\x1b[31m"],
        ["content", "64".rjust(32, "0"), "http://www.a.example/"],
    ]
    _, out, _ = dustpages("stats", "--store", store, "--json")
    assert [json.loads(line) for line in out.splitlines()] == [
        {"site": "a.example", "content": 1, "little": 1, "error": 0},
        {"site": "b.example", "content": 1, "little": 0, "error": 0},
    ]
    assert dustpages("stats", "--store", store)[1].splitlines()[-1].split() == ["all", "2", "1", "0"]
    _, out, _ = dustpages("find", "http://a.example/2", "http://no.example/", "--store", store, "--json")
    assert json.loads(out)["url"] == "http://a.example/2"


def test_a_site_that_the_store_does_not_have_is_said_with_the_one_that_may_be_meant(stored, dustpages):
    status, out, said = dustpages("list", "--site", "a.exampel", "--store", stored())
    assert (status, out) == (0, "")
    assert said == (
        "scrapy dustpages: no page of the site 'a.exampel' is in this store. Did you mean 'a.example'?\n"
    )


def test_a_file_that_is_no_store_is_said_with_the_remedy(tmp_path, dustpages):
    other = tmp_path / "other"
    other.write_text("no database " * 200)
    status, _, said = dustpages("list", "--store", str(other))
    assert status == 1
    assert said == (
        f"scrapy dustpages: {other}: this is no store of contents. "
        "Name the file that a crawl with DUST_CONTENT_STORE has made.\n"
    )


def test_a_database_of_another_program_or_an_empty_file_is_no_store_and_stays_as_it_is(tmp_path, dustpages):
    other, empty = tmp_path / "other", tmp_path / "empty"
    with closing(sqlite3.connect(other)) as base:
        base.executescript("CREATE TABLE theirs (page)")
    empty.touch()
    for path in (other, empty):
        before = path.read_bytes()
        for arguments in (("list",), ("stats",), ("purge", "--older", "9" * 400)):
            status, _, said = dustpages(*arguments, "--store", str(path))
            assert (status, "this is no store of contents" in said) == (1, True)
        assert path.read_bytes() == before


def test_no_number_of_days_is_too_great(stored, dustpages):
    status, out, _ = dustpages("purge", "--older", "9" * 400, "--store", stored())
    assert (status, out) == (0, "0 pages purged.\n")


def test_stores_are_merged_and_what_is_purged_is_gone(stored, dustpages):
    # First the other, or what it has may have been seen a second later and be taken too.
    other = stored("other.sqlite", {**PAGES, "http://c.example/": Kind.CONTENT})
    store = stored()
    assert dustpages("merge", other, "--store", store)[:2] == (0, f"1 pages taken from {other}.\n")
    assert dustpages("purge", "--site", "a.example", "--store", store)[1] == "2 pages purged.\n"
    assert dustpages("purge", "http://c.example/", "--store", store, "--json")[1] == '{"purged": 1}\n'
    assert len(dustpages("list", "--store", store)[1].splitlines()) == 1


def test_what_was_not_seen_for_long_is_purged(stored, dustpages, monkeypatch, tmp_path):
    now = sqlite_store._now()
    monkeypatch.setattr(sqlite_store, "_now", lambda: now - 10 * DAY)
    store = stored()
    monkeypatch.undo()
    made = SqliteStore(Path(store))
    made.keep("http://a.example/2", (b"2" * 16,), Kind.CONTENT)
    made.close()
    assert dustpages("purge", "--older", "9", "--store", store)[1] == "2 pages purged.\n"


def test_the_store_of_the_project_is_meant_where_none_is_named(stored, dustpages, tmp_path):
    stored()
    settings = {"DUST_DIR": str(tmp_path), "DUST_CONTENT_STORE": "pages.sqlite"}
    assert dustpages("stats", **settings)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "say what to do"),
        (("stat",), "Did you mean 'stats'"),
        (("merge",), "Use: scrapy dustpages merge STORE"),
        (("stats",), "DUST_CONTENT_STORE"),
        (("purge", "--older", "x", "--store", "y"), "--older must be"),
        (("list", "--nonsense"), "unrecognized"),
    ],
)
def test_what_cannot_be_meant_is_said(dustpages, arguments, said):
    with pytest.raises(UsageError, match=said):
        dustpages(*arguments)


def test_nothing_is_purged_by_accident(stored, dustpages):
    with pytest.raises(UsageError, match="what to purge"):
        dustpages("purge", "--store", stored())


def test_a_store_that_is_not_there_is_one_sentence(dustpages, tmp_path):
    status, out, err = dustpages("list", "--store", str(tmp_path / "none"))
    assert (status, out) == (1, "")
    assert (
        err
        == f"scrapy dustpages: {tmp_path}/none: there is no such file. A crawl with DUST_CONTENT_STORE makes it.\n"
    )
