"""Edits in a rule book: all of an edit is there, and what is not understood is refused."""

from __future__ import annotations

import json
import re
from inspect import getmembers, isclass
from pathlib import Path

import pytest
from hypothesis import given

from scrapy_dust.dust.edits import paths, queries, rewriting, spellings, substituting
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.queries import DropParameter
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import Entry
from scrapy_dust.rule_book.document import parse, render
from scrapy_dust.rule_book.edits import OPERATIONS, content_of, edit_from
from tests.dust.edits.strategies import edits
from tests.rule_book.books import INDEX, SITE, as_json, book, document, edit, substring

SID = Edit((DropParameter("sid"),))


def complaint(**other):
    with pytest.raises(RuleBookError) as caught:
        parse("rules.json", as_json(document(edit(**other))))
    return str(caught.value).removeprefix("rules.json: site 'a.example', rule 1").partition(". Mend")[0]


@given(edits)
def test_what_determines_an_edit_makes_it_again(one):
    _, operations, guard = json.loads(json.dumps(content_of(one)))
    try:
        again = edit_from(operations, guard)
    except ValueError:  # one that changes nothing cannot be meant
        return
    assert again == one
    assert str(again) == str(one)


def test_every_operation_has_a_name_on_disk():
    rooms = (paths, queries, rewriting, spellings, substituting)
    operations = {
        kind
        for room in rooms
        for _, kind in getmembers(room, isclass)
        if kind.__module__ == room.__name__ and hasattr(kind, "rank")
    }
    assert operations == set(OPERATIONS.values())


def test_an_edit_stands_in_a_book_as_a_person_reads_it():
    [rule] = json.loads(render(book(Entry(SID)).document, "test"))["sites"][SITE]["rules"]
    assert rule["reads"] == "sid=* → (left out)"
    assert rule["operations"] == [{"do": "drop parameter", "name": "sid", "value": None}]


def test_a_book_has_the_oldest_format_that_can_say_it():
    assert json.loads(render(book(Entry(INDEX)).document, "test"))["format"] == 1
    assert json.loads(render(book(Entry(INDEX), Entry(SID)).document, "test"))["format"] == 2


def test_books_of_both_formats_are_read():
    for number in (1, 2):
        read = parse("rules.json", as_json(document(substring(), edit()) | {"format": number}))
        assert [entry.rule for entry in read.sites[SITE]] == [INDEX, SID]


def test_the_version_of_a_book_without_edits_is_what_it_was_before_there_were_edits():
    assert book(Entry(INDEX)).version == "887ab294b2ae25cb"
    assert book(Entry(INDEX), Entry(SID)).version != book(Entry(INDEX)).version


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"operations": []}, ": an edit has 1 to 8 operations, and at most 8 conditions"),
        ({"operations": [None]}, ", operation 1 must be an object, got null"),
        ({"operations": [{"do": "drop slash", "at": 1}]}, ", operation 1: 'at' is no key of it"),
        ({"operations": [{"do": "drop parameter", "name": "x"}]}, ", operation 1 has no 'value'"),
        ({"operations": [{"do": "drop from", "place": 0}]}, ": 'place' of 'drop from' must be a place in a path, got 0"),
        ({"operations": [{"do": "any value", "name": ""}]}, ": 'name' of 'any value' must not be empty"),
        ({"operations": [{"do": "map host", "alias": "a", "host": "a"}]}, ": 'map host' must change something, both sides are 'a'"),
        ({"operations": [{"do": "rewrite", "form": ["/", 0, 1], "other": [1], "classes": ["word", "word"]}]}, ": 'form' must have a text between captures"),
        ({"operations": [{"do": "rewrite", "form": ["/", 0], "other": [1], "classes": ["word"]}]}, ": 'form' must have each capture of 'classes' once, and 'other' none beside them"),
        ({"operations": [{"do": "rewrite", "form": ["/", True], "other": [0], "classes": ["word"]}]}, ", operation 1: 'form' must be of strings and numbers only, got a list"),
        ({"guard": [{"of": "the moon", "value": None, "holds": True}]}, ": 'of' must be a place in a URL, got 'the moon'"),
        ({"guard": [{"of": "host", "value": None}]}, ", condition 1 has no 'holds'"),
        ({"id": "00000000"}, ": 'id' '00000000' is another rule's; this one's would be '6b136dca', and its evidence its own"),
    ],
)  # fmt: skip
def test_an_edit_that_is_half_understood_is_refused_in_one_sentence(other, said):
    assert complaint(**other) == said


def test_the_page_about_rule_books_names_every_operation():
    page = Path(__file__).parents[2].joinpath("docs", "rule-book.md").read_text("utf-8")
    named = re.findall(
        r"`([a-z ]+)`", "".join(row.split("|")[1] for row in page.splitlines() if row[:2] == "| ")
    )
    assert sorted(set(named) - {"do"}) == sorted(OPERATIONS)


def test_the_book_on_that_page_is_one():
    page = Path(__file__).parents[2].joinpath("docs", "rule-book.md").read_text("utf-8")
    shown = page.partition("```json\n")[2].partition("```")[0]
    [(_, [entry])] = parse("rules.json", shown.encode()).sites.items()
    assert str(entry.rule) == "/print.pl?sid={numbers 1} → /newsvac/{numbers 1}.shtml"
