"""Books of formats 1 and 2, brought to today's once."""

from __future__ import annotations

import json

import pytest

from scrapy_dust.errors import RuleBookError
from scrapy_dust.exchange.older_books import migrated
from scrapy_dust.rule_book.document import parse
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.paths import DropSlash
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute

HOST = {"of": "host", "value": "a.example", "holds": True}
KINDS = [
    (
        {"kind": "substring", "alpha": "index.html", "beta": "", "start": False, "end": True},
        Rule.of(Substitute("index.html", "", end=True)),
    ),
    ({"kind": "parameter", "name": "sid", "value": None}, Rule.of(DropParameter("sid"))),
    ({"kind": "parameter", "name": "sort", "value": "up"}, Rule.of(SetParameter("sort", "up"))),
    (
        {"kind": "edit", "reads": "…", "operations": [{"do": "drop slash"}], "guard": [HOST]},
        Rule.of(DropSlash(), where=(Condition("host", "a.example"),)),
    ),
]


def older(*rules, number=2):
    return json.dumps({"format": number, "owner": "us", "sites": {"a.example": {"rules": rules}}}).encode()


def test_rules_of_each_kind_are_what_they_were_with_all_that_is_known_of_them():
    known = {"status": "suspended", "reason": "x", "comment": "y", "evidence": {"positive": 7}, "mine": 1}
    document = migrated("rules.json", older(*(rule | known | {"id": "00000000"} for rule, _ in KINDS)))
    assert document.extra == {"owner": "us"}
    entries = document.sites["a.example"]
    assert [entry.rule for entry in entries] == [rule for _, rule in KINDS]
    assert {(str(one.status), one.reason, one.comment, one.evidence.positive) for one in entries} == {
        ("suspended", "x", "y", 7)
    }
    assert all(entry.extra == {"mine": 1} for entry in entries)


def test_a_book_that_is_not_migrated_is_refused_with_the_command_that_does_it():
    with pytest.raises(RuleBookError, match=r"has format 1, of an older version; `scrapy dustrules migrate`"):
        parse("rules.json", older(number=1))


def test_a_book_of_today_is_left_alone_and_no_book_is_refused():
    assert migrated("rules.json", b'{"format": 3, "sites": {}}') is None
    for content, said in (
        (b"{", "is not JSON"),
        (older({"kind": "regex"}), "'kind' must be one of"),
        (older({"kind": "parameter", "status": "valid"}), "has no 'name'"),
        (b'{"format": 4, "sites": {}}', "Upgrade"),
    ):
        with pytest.raises(RuleBookError, match=said):
            migrated("rules.json", content)
