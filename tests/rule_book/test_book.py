from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given

from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import Entry, Evidence, RuleBook, Status, rule_id
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from tests.rule_book.books import (
    INDEX,
    SITE,
    STORY,
    WWW,
    as_json,
    book,
    books,
    document,
    parameter,
    substring,
)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "dust-rules.json")


@given(books())
def test_a_book_that_is_saved_and_loaded_is_the_same_book(tmp_path_factory, written):
    path = str(tmp_path_factory.getbasetemp() / "round-trip.json")
    written.save(path)
    assert RuleBook.load([path], missing_ok=False) == written


@pytest.mark.once
@given(books())
def test_a_book_that_was_loaded_is_written_back_byte_by_byte(tmp_path_factory, written):
    path = tmp_path_factory.getbasetemp() / "bytes.json"
    written.save(path)
    before = path.read_bytes()
    RuleBook.load([str(path)]).save(path)
    assert path.read_bytes() == before


def test_a_book_is_made_to_be_reviewed(tmp_path):
    path = tmp_path / "dust-rules.json"
    one = Entry(INDEX, evidence=Evidence(support=3, examples=(("http://é/index.html", "http://é/"),)))
    RuleBook().with_site("z.example", [one]).with_site("a.example", [one, Entry(WWW)]).save(path)
    text = path.read_text("utf-8")
    assert text.startswith('{\n  "format": 3,\n  "generator": "scrapy-dust ')
    assert text.endswith("}\n")
    assert "http://é/index.html" in text
    assert list(json.loads(text)["sites"]) == ["a.example", "z.example"]
    assert [rule["operations"][0]["alpha"] for rule in json.loads(text)["sites"]["a.example"]["rules"]] == [
        "index.html",
        "http://www.",
    ]


def test_only_valid_rules_are_applied_and_in_their_order():
    of_site = [
        Entry(WWW),
        Entry(INDEX, Status.REFUTED),
        Entry(STORY),
        Entry(Rule.of(DropParameter("sid")), Status.DISABLED),
    ]
    assert book(*of_site).rules_by_site() == {SITE: (WWW, STORY)}
    assert book(*of_site[1::2]).rules_by_site() == {}


def test_a_rule_written_by_hand_needs_no_id_and_no_evidence(tmp_path):
    path = tmp_path / "dust-rules.json"
    path.write_bytes(as_json(document(substring(), parameter(value="0"))))
    loaded = RuleBook.load([str(path)])
    assert loaded.rules_by_site() == {SITE: (INDEX, Rule.of(SetParameter("sid", "0")))}


def test_what_a_person_or_a_later_version_added_is_written_back(tmp_path):
    path = tmp_path / "dust-rules.json"
    rule = substring(comment="asked the webmaster", ticket={"nr": 7}, evidence={"weather": "fine"})
    said = document(rule, owner="us")
    said["sites"][SITE]["contact"] = "them"
    path.write_bytes(as_json(said))
    changed = RuleBook.load([str(path)]).merge(SITE, [Entry(INDEX, evidence=Evidence(positive=4))])
    changed.save(path)
    written = json.loads(path.read_bytes())
    rule = written["sites"][SITE]["rules"][0]
    assert (written["owner"], written["sites"][SITE]["contact"]) == ("us", "them")
    assert (rule["comment"], rule["ticket"], rule["evidence"]["weather"]) == (
        "asked the webmaster",
        {"nr": 7},
        "fine",
    )
    assert rule["evidence"]["positive"] == 4


# --- several books --------------------------------------------------------------------------------------------


def test_of_several_books_the_first_entry_of_a_rule_counts(tmp_path):
    first, second = str(tmp_path / "1.json"), str(tmp_path / "2.json")
    book(Entry(WWW, comment="first")).save(first)
    book(Entry(INDEX), Entry(WWW, comment="second")).save(second)
    both = RuleBook.load([first, second])
    assert both.entries(SITE) == (Entry(WWW, comment="first"), Entry(INDEX))


@pytest.mark.parametrize("disabled_in", [0, 1])
def test_a_rule_that_any_book_disables_is_disabled(tmp_path, disabled_in):
    paths = [str(tmp_path / "1.json"), str(tmp_path / "2.json")]
    entries = [Entry(WWW), Entry(WWW)]
    entries[disabled_in] = Entry(WWW, Status.DISABLED, reason="loses pages")
    for path, entry in zip(paths, entries, strict=True):
        book(entry).save(path)
    both = RuleBook.load(paths)
    assert both.rules_by_site() == {}
    assert both.entries(SITE)[0].reason == "loses pages"


def test_books_that_are_missing_are_empty_unless_they_must_be_there(path):
    assert RuleBook.load([path, path + ".2"]) == RuleBook()
    with pytest.raises(RuleBookError, match=r"dust-rules\.json: there is no such file\. Check the path"):
        RuleBook.load([path], missing_ok=False)


def test_without_fsspec_a_uri_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(RuleBookError) as caught:
        RuleBook.load(["s3://bucket/rules.json"])
    assert str(caught.value) == (
        "s3://bucket/rules.json: needs fsspec, which is not installed. Run `pip install scrapy-dust[uri]`."
    )


def test_a_uri_is_read_with_fsspec_and_never_written():
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed, so no URI can be read")
    with fsspec.open("memory://dust/rules.json", "wb") as file:
        file.write(as_json(document(substring())))
    assert RuleBook.load(["memory://dust/rules.json"]).rules_by_site() == {SITE: (INDEX,)}
    assert RuleBook.load(["memory://dust/none.json"]) == RuleBook()
    with pytest.raises(RuleBookError, match="Check the URI"):
        RuleBook.load(["nonsense://rules.json"])


def test_a_book_is_not_written_to_a_uri():
    with pytest.raises(RuleBookError, match="only files can be written, not URIs"):
        RuleBook().save("memory://dust/rules.json")


# --- version and ids ------------------------------------------------------------------------------------------


@given(books())
def test_the_version_depends_on_the_rules_in_force_alone(written):
    bare = RuleBook()
    for site in reversed(written.sites):
        of_site = [entry for entry in written.entries(site) if entry.status is Status.VALID]
        bare = bare.with_site(site, [Entry(entry.rule) for entry in of_site])
    assert bare.version == written.version


def test_the_version_does_not_depend_on_the_order_of_rules():
    assert book(Entry(WWW), Entry(INDEX)).version == book(Entry(INDEX), Entry(WWW)).version


@pytest.mark.parametrize(
    "other",
    [
        Rule.of(Substitute("index.html", "", end=False)),
        Rule.of(Substitute("index.html", "x", end=True)),
        Rule.of(Substitute("index.html", "", start=True, end=True)),
        Rule.of(SetParameter("index.html", "")),
        Rule.of(DropParameter("index.html")),
    ],
)
def test_rules_that_do_other_things_have_other_ids_and_versions(other):
    assert rule_id(SITE, other) != rule_id(SITE, INDEX)
    assert rule_id("b.example", INDEX) != rule_id(SITE, INDEX)
    assert book(Entry(other)).version != book(Entry(INDEX)).version


def test_version_and_ids_are_the_same_in_every_process(tmp_path):
    path = str(tmp_path / "dust-rules.json")
    written = book(Entry(WWW), Entry(INDEX), Entry(Rule.of(DropParameter("é")))).with_site(
        "b", [Entry(STORY)]
    )
    written.save(path)
    program = (
        "import sys; from scrapy_dust.rule_book import RuleBook, rule_id; b = RuleBook.load(sys.argv[1:]);"
        "print(b.version, *[rule_id(s, e.rule) for s in b.sites for e in b.entries(s)])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program, path],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    ids = [rule_id(site, entry.rule) for site in written.sites for entry in written.entries(site)]
    assert said == {" ".join([written.version, *ids]) + "\n"}


def test_ids_stay_as_they_were_printed():
    assert rule_id(SITE, INDEX) == "e3ee9120"
    assert rule_id(SITE, Rule.of(DropParameter("sid"))) == "1d63a2f0"


def test_a_rule_is_found_by_its_id():
    both = book(Entry(WWW), Entry(INDEX)).with_site("b.example", [Entry(WWW)])
    assert both.find(rule_id(SITE, INDEX)) == ((SITE, Entry(INDEX)),)
    assert both.find(rule_id("b.example", WWW)) == (("b.example", Entry(WWW)),)
    assert both.find("00000000") == ()


def test_a_status_is_changed_and_nothing_else():
    before = Entry(WWW, comment="ours", evidence=Evidence(positive=9))
    changed = book(before, Entry(INDEX)).with_status(SITE, WWW, Status.DISABLED, "by hand")
    after = replace(before, status=Status.DISABLED, reason="by hand")
    assert changed.entries(SITE) == (after, Entry(INDEX))
    assert changed.with_status(SITE, WWW, Status.VALID).entries(SITE) == (before, Entry(INDEX))
