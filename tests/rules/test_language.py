"""A new operation is one class: rule books, keys, the report's page, strategies and docs take it as it is."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from docs.described import schema_of
from scrapy_dust.report.page import keys_script
from scrapy_dust.rule_book import Entry, RuleBook
from scrapy_dust.rule_book.document import parse
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.language import OPERATIONS
from scrapy_dust.rules.operation import Operation, operation
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of
from scrapy_dust.url.parts import Parts
from tests.report.keys_in_node import NODE, keys_of
from tests.rules import strategies as language

PACKAGE = Path(__file__).parents[2] / "scrapy_dust"


@dataclass(frozen=True, slots=True)
class DropPrefix(Operation):
    """What the last segment begins with is left out."""

    prefix: str
    do = "drop prefix"
    rank = 6
    family = "prefix"
    script = """(one, url) => {
      const last = url.path[url.path.length - 1];
      if (!last.startsWith(one.prefix)) return url;
      return { ...url, path: [...url.path.slice(0, -1), last.slice(one.prefix.length)] };
    }"""

    @property
    def needle(self) -> str:
        return self.prefix

    def apply(self, url: Parts) -> Parts:
        last = url.path[-1]
        if not last.startswith(self.prefix):
            return url
        return url._replace(path=(*url.path[:-1], last.removeprefix(self.prefix)))

    def __str__(self) -> str:
        return f"{self.prefix}… → …"


@pytest.fixture
def prefix(monkeypatch):
    """The language with one operation more."""
    monkeypatch.setitem(OPERATIONS, DropPrefix.do, DropPrefix)
    return Rule.of(DropPrefix("print-"), where=(Condition("host", "a.example"),))


def test_a_new_operation_makes_keys(prefix):
    canonize = Canonizer({"a.example": [prefix]}, site_of).canonize
    assert canonize("http://a.example/x/print-7.html") == "http://a.example/x/7.html"
    assert canonize("http://www.a.example/x/print-7.html") == "http://www.a.example/x/print-7.html"


def test_a_new_operation_stands_in_rule_books(prefix):
    book = RuleBook().with_site("a.example", [Entry(prefix)])
    assert parse("rules.json", book.rendered()).sites == book.document.sites
    assert json.loads(book.rendered())["sites"]["a.example"]["rules"][0]["operations"] == [
        {"do": "drop prefix", "prefix": "print-"}
    ]
    assert schema_of(DropPrefix)["required"] == ["do", "prefix"]


@pytest.mark.skipif(NODE is None, reason="there is no node")
def test_a_new_operation_is_known_to_the_reports_page(prefix):
    assert '"drop prefix": (one, url) =>' in keys_script()
    urls = ["http://a.example/x/print-7.html", "http://a.example/print-"]
    assert keys_of([(urls, {"a.example": [prefix]})]) == [["http://a.example/x/7.html", "http://a.example/"]]


def test_a_new_operation_is_among_those_that_laws_are_tried_on(prefix):
    assert find(language.operations_of(DropPrefix), lambda one: True).prefix
    found = find(language.rules, lambda rule: any(one.do == "drop prefix" for one in rule.operations))
    assert "… → …" in str(found)


@settings(max_examples=20)
@given(st.sampled_from(sorted(OPERATIONS)))
def test_operations_say_what_they_do(name):
    kind = OPERATIONS[name]
    assert kind.do == name
    assert kind.__doc__
    assert "\n" not in kind.script.partition("=>")[0]
    assert operation(kind) is kind


#: Who asks a rule which kind it is.
_ASKS = re.compile(
    r"(?:isinstance\([^)]*|case )\b(?:Rule|Operation|"
    + "|".join(kind.__name__ for kind in OPERATIONS.values())
    + r")\b"
)


def test_nobody_outside_the_language_asks_what_kind_a_rule_is():
    asking = [
        (path.relative_to(PACKAGE).as_posix(), line.strip())
        for path in PACKAGE.rglob("*.py")
        if path.parent.name != "rules"
        for line in path.read_text("utf-8").splitlines()
        if _ASKS.search(line)
    ]
    assert asking == []
