"""Rules in a rule book: all of a rule is there, and what is not understood is refused."""

from __future__ import annotations

import json
import re
from inspect import getmembers, isclass
from pathlib import Path

import pytest
from hypothesis import given

from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import Entry
from scrapy_dust.rule_book.document import parse, render
from scrapy_dust.rules.json_rules import content_of, rule_from
from scrapy_dust.rules.language import OPERATIONS, ROOMS
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.rule_book.books import SITE, as_json, book, document, parameter
from tests.rules import strategies as language

SID = Rule((DropParameter("sid"),))


def complaint(**other):
    with pytest.raises(RuleBookError) as caught:
        parse("rules.json", as_json(document(parameter() | other)))
    return str(caught.value).removeprefix("rules.json: site 'a.example', rule 1").partition(". Mend")[0]


@given(language.rules)
def test_what_determines_a_rule_makes_it_again(one):
    again = rule_from(json.loads(json.dumps(content_of(one))))
    assert again == one
    assert str(again) == str(one)


def test_every_operation_has_a_name_on_disk():
    operations = {
        kind
        for room in ROOMS
        for _, kind in getmembers(room, isclass)
        if kind.__module__ == room.__name__ and hasattr(kind, "rank")
    }
    assert operations == set(OPERATIONS.values())


def test_a_rule_stands_in_a_book_as_a_person_reads_it():
    [rule] = json.loads(render(book(Entry(SID)).document, "test"))["sites"][SITE]["rules"]
    assert rule["reads"] == "sid=* → (left out)"
    assert rule["operations"] == [{"do": "drop parameter", "name": "sid", "value": None}]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"operations": []}, ": a rule has 1 to 8 operations, and at most 8 conditions"),
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
        ({"id": "00000000"}, ": 'id' '00000000' is another rule's; this one's would be '1d63a2f0', and its evidence its own"),
    ],
)  # fmt: skip
def test_a_rule_that_is_half_understood_is_refused_in_one_sentence(other, said):
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
