"""schema.json tells other programs what document.py checks."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given

from scrapy_dust.rule_book.document import FORMAT, render
from scrapy_dust.rule_book.entries import COUNTS, Status
from scrapy_dust.rules.language import OPERATIONS
from tests.rule_book.books import books, document, parameter, substring

SCHEMA = json.loads(files("scrapy_dust.rule_book").joinpath("schema.json").read_bytes())


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_lists_what_the_code_reads():
    evidence = set(SCHEMA["$defs"]["evidence"]["properties"])
    others = {"loss_bound", "unseen_bound", "first_validated", "last_validated", "logs", "shown", "examples"}
    assert evidence == {*COUNTS, *others}
    assert SCHEMA["$defs"]["entry"]["properties"]["status"]["enum"] == list(Status)
    assert SCHEMA["properties"]["format"]["const"] == FORMAT
    operations = [one["properties"]["do"]["const"] for one in SCHEMA["$defs"]["operation"]["oneOf"]]
    assert operations == sorted(OPERATIONS)


@given(books())
def test_what_we_write_fits_the_schema(validator, book):
    validator.validate(json.loads(render(book.document, "test")))


def test_what_a_person_writes_fits_the_schema(validator):
    validator.validate(document(substring(), parameter(value="0"), parameter(), owner="us"))


@pytest.mark.parametrize(
    "said",
    [
        document(substring(status="ok")),
        document({key: value for key, value in substring().items() if key != "guard"}),
        document(substring(evidence={"support": -1})),
        document(substring(evidence={"examples": [["a"]]})),
        document(parameter() | {"operations": []}),
        document(parameter() | {"operations": [{"do": "drop parameter", "name": "sid"}]}),
        document(parameter() | {"operations": [{"do": "drop parameter", "name": "", "value": None}]}),
        document(parameter() | {"operations": [{"do": "drop slash", "where": "/x"}]}),
        document(parameter() | {"guard": [{"of": "the moon", "value": None, "holds": True}]}),
        document(format=2),
    ],
)
def test_what_the_code_refuses_does_not_fit(validator, said):
    assert not validator.is_valid(said)
