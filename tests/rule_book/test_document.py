"""Damaged books: one sentence that says where and what to do, never another exception."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import RuleBook
from scrapy_dust.rule_book.document import parse, render
from scrapy_dust.rules import language
from tests.rule_book.books import JSON, as_json, books, document, parameter, substring

HERE = "site 'a.example', rule 1"
MEND = ". Mend it there, put a good copy in its place, or delete the file to start anew."


def complaint(content: bytes) -> str:
    with pytest.raises(RuleBookError) as caught:
        parse("rules.json", content)
    said = str(caught.value)
    assert said.startswith("rules.json: ")
    assert "\n" not in said
    return said.removeprefix("rules.json: ").removesuffix(MEND)


def test_a_book_of_a_later_version_asks_for_an_upgrade():
    said = complaint(b'{"format": 4, "sites": "who knows"}')
    assert said == "has format 4; this version reads 3. Upgrade scrapy-dust."


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"\0" * 64, "line 1, column 1 is not JSON (Expecting value)"),
        (b'{"format": 3,\n "sites": {', "line 2, column 12 is not JSON (Expecting property name enclosed in double quotes)"),
        (b'{"format": 3, "sites": {}}}', "line 1, column 27 is not JSON (Extra data)"),
        (b'{"format": 3,\n\n "sites\xff": {}}', "line 3 is not UTF-8 (byte 0xff)"),
        (b'{"format": 3, "sites": {}, "x": NaN}', "NaN is no JSON number"),
        (b'{"format": 3, "sites": {}, "x": 1e999}', "'1e999' is no JSON number"),
        (b'{"format": 3, "sites": {}, "x": ' + b"9" * 5000 + b"}", "a number in it has too many digits"),
        (b'{"format": 3, "sites": {}, "x": ' + b"[" * 100_000, "its lists are nested too deeply"),
        (b'{"format": 3, "sites": {"a": {"rules": []}, "a": {"rules": []}}}', "the key 'a' stands twice in one object"),
        (b"[]", "the file must be an object, got a list"),
        (b'"rules"', "the file must be an object, got 'rules'"),
        (b"{}", "the file has no 'format'"),
        (b'{"format": 3}', "the file has no 'sites'"),
        (b'{"format": 0, "sites": {}}', "'format' must be 3, got 0"),
        (b'{"format": "1", "sites": {}}', "the file: 'format' must be an integer, got '1'"),
        (b'{"format": true, "sites": {}}', "the file: 'format' must be an integer, got true"),
        (b'{"format": 3, "sites": []}', "'sites' must be an object, got a list"),
        (b'{"format": 3, "sites": {"a": []}}', "site 'a' must be an object, got a list"),
        (b'{"format": 3, "sites": {"a": {}}}', "site 'a' has no 'rules'"),
        (b'{"format": 3, "sites": {"a": {"rules": {}}}}', "site 'a': 'rules' must be a list, got an object"),
        (b'{"format": 3, "sites": {"a": {"rules": [null]}}}', "site 'a', rule 1 must be an object, got null"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_named_with_the_place_and_the_remedy(content, said):
    assert complaint(content) == said


OPERATIONS = ", ".join(map(repr, language.OPERATIONS))


def does(operation: dict[str, object]) -> dict[str, object]:
    return {"operations": [operation], "guard": [], "status": "valid"}


def without(rule: dict[str, object], key: str) -> dict[str, object]:
    return {name: value for name, value in rule.items() if name != key}


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (without(substring(), "operations"), f"{HERE} has no 'operations'"),
        (without(substring(), "guard"), f"{HERE} has no 'guard'"),
        (without(substring(), "status"), f"{HERE} has no 'status'"),
        (does({"do": "substitute", "alpha": "a", "beta": "b", "end": True}), f"{HERE}, operation 1 has no 'start'"),
        (does({"do": "drop parameter", "name": "a"}), f"{HERE}, operation 1 has no 'value'"),
        (does({"do": "regex"}), f"{HERE}, operation 1: 'do' must be one of {OPERATIONS}, got 'regex'"),
        (does({"do": None}), f"{HERE}, operation 1: 'do' must be one of {OPERATIONS}, got null"),
        (substring(status="ok"), f"{HERE}: 'status' must be one of 'probation', 'valid', 'suspended', 'refuted', 'disabled', got 'ok'"),
        (substring(alpha=1), f"{HERE}, operation 1: 'alpha' must be a string, got 1"),
        (substring(end=1), f"{HERE}, operation 1: 'end' must be true or false, got 1"),
        (substring(alpha="x", beta="x"), f"{HERE}: 'alpha' and 'beta' must differ, both are 'x'"),
        (substring(alpha="", beta="x", end=False), f"{HERE}: 'alpha' must not be empty unless 'start' or 'end' is true"),
        (parameter(name=""), f"{HERE}: 'name' of 'drop parameter' must not be empty"),
        (parameter(name="a&b"), f"{HERE}: 'name' must be a parameter's name, got 'a&b'"),
        (parameter(name="a=b"), f"{HERE}: 'name' must be a parameter's name, got 'a=b'"),
        (parameter(value="1&admin=1"), f"{HERE}: 'value' must be one parameter's value, got '1&admin=1'"),
        (parameter(value="1#top"), f"{HERE}: 'value' must be one parameter's value, got '1#top'"),
        (parameter(value=0), f"{HERE}, operation 1: 'value' must be a string or null, got 0"),
        (substring(comment=[]), f"{HERE}: 'comment' must be a string or null, got a list"),
        (substring(evidence=[]), f"{HERE}, 'evidence' must be an object, got a list"),
        (substring(evidence={"support": -1}), f"{HERE}: 'support' must not be negative, got -1"),
        (substring(evidence={"support": 1.5}), f"{HERE}, 'evidence': 'support' must be an integer, got 1.5"),
        (substring(evidence={"support": True}), f"{HERE}, 'evidence': 'support' must be an integer, got true"),
        (substring(evidence={"support": None}), f"{HERE}, 'evidence': 'support' must be an integer, got null"),
        (substring(evidence={"loss_bound": 2}), f"{HERE}: 'loss_bound' must be a number from 0 to 1, or null, got 2"),
        (substring(evidence={"loss_bound": "low"}), f"{HERE}, 'evidence': 'loss_bound' must be a number or null, got 'low'"),
        (substring(evidence={"logs": "log"}), f"{HERE}, 'evidence': 'logs' must be a list, got 'log'"),
        (substring(evidence={"logs": [1]}), f"{HERE}, 'evidence': 'logs' must be of strings only, got a list"),
        (substring(evidence={"examples": [["a"]]}), f"{HERE}, 'evidence': 'examples' must be a list of pairs of URLs, got a list"),
        (substring(evidence={"examples": [["a", 1]]}), f"{HERE}, 'evidence': 'examples' must be of strings only, got a list"),
        (substring(evidence={"last_validated": "today"}), f"{HERE}: 'last_validated' must be a date such as '2026-11-18', got 'today'"),
        (substring(evidence={"last_validated": "2026-02-30"}), f"{HERE}: 'last_validated' must be a date such as '2026-11-18', got '2026-02-30'"),
        (substring(evidence={"first_validated": "20261118"}), f"{HERE}: 'first_validated' must be a date such as '2026-11-18', got '20261118'"),
        (substring(id="e3ee9121"), f"{HERE}: 'id' 'e3ee9121' is another rule's; this one's would be 'e3ee9120', and its evidence its own"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_meant_is_named_with_the_place_and_the_remedy(rule, said):
    assert complaint(as_json(document(rule))) == said


def test_a_rule_that_stands_twice_is_refused():
    said = complaint(as_json(document(substring(), parameter(), substring(status="disabled"))))
    assert said == "site 'a.example', rule 3: the same rule stands above; keep one of them"


def test_a_byte_order_mark_does_no_harm():
    assert parse("rules.json", b"\xef\xbb\xbf" + as_json(document())) == parse("", as_json(document()))


def test_half_a_surrogate_pair_is_written_back_as_it_was():
    content = as_json(document(substring(alpha="\ud800", comment="\udfff")))
    assert b"\\ud800" in content
    read = parse("rules.json", content)
    assert parse("rules.json", render(read, "test")) == read


def test_a_folder_and_a_file_under_a_file_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(RuleBookError, match=r"cannot be read \(Is a directory\)\. Check the path"):
        RuleBook.load([str(tmp_path)])
    (tmp_path / "file").touch()
    with pytest.raises(RuleBookError, match=r"cannot be read \(Not a directory\)"):
        RuleBook.load([str(tmp_path / "file" / "rules.json")])


def read_or_refuse(content: bytes) -> None:
    """Whatever *content* is, it is read or refused; what is read can be written and read again."""
    try:
        read = parse("rules.json", content)
    except RuleBookError as error:
        said = str(error)
    else:
        assert parse("rules.json", render(read, "test")) == read
        said = ""
    assert "\n" not in said


@given(st.binary(max_size=60) | JSON.map(as_json))
def test_any_file_is_read_or_refused(content):
    read_or_refuse(content)


@given(st.data(), books())
def test_a_book_that_was_cut_short_or_scribbled_on_is_read_or_refused(data, book):
    content = render(book.document, "test")
    at = data.draw(st.integers(0, len(content)))
    read_or_refuse(
        content[:at] + data.draw(st.binary(max_size=3)) + content[at + data.draw(st.integers(0, 9)) :]
    )
    with pytest.raises(RuleBookError):
        parse("rules.json", content[: data.draw(st.integers(0, len(content) - 3))])


@given(st.data(), books(), JSON)
def test_a_value_of_any_other_type_is_read_or_refused(data, book, value):
    said = json.loads(render(book.document, "test"))
    at = said
    while isinstance(at, dict | list) and at:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if data.draw(st.integers(0, 3)) == 0 or not isinstance(at[key], dict | list) or not at[key]:
            at[key] = value
            break
        at = at[key]
    read_or_refuse(as_json(said))
