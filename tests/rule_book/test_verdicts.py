from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.validation import Tally, Verdict
from scrapy_dust.rule_book import verdicts
from scrapy_dust.rule_book.verdicts import PastVerdict, Verdicts, update
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from tests.rule_book.books import INDEX, SITE, STORY, WWW, effective_rules
from tests.strategies import rules

NUMBERS = st.integers(0, 10**6)
SETTLED = st.builds(
    PastVerdict,
    rules() | effective_rules(),
    st.sampled_from((Verdict.REFUTED, Verdict.UNDECIDED)),
    st.builds(Tally, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    st.dates().map(str),
)
SITES = st.dictionaries(
    st.sampled_from(("a.example", "é.example")), st.lists(SETTLED, min_size=1, max_size=4)
)


def refuted(rule=WWW, day="2026-11-18"):
    return PastVerdict(rule, Verdict.REFUTED, Tally(positive=1, negative=5), day)


@given(SITES)
def test_verdicts_that_are_saved_and_loaded_are_the_same(tmp_path_factory, sites):
    path = tmp_path_factory.getbasetemp() / "state" / "verdicts.json"
    written = Verdicts()
    for site, settled in sites.items():
        written = written.with_verdicts(site, settled)
    update(path, lambda _: written)
    assert Verdicts.load(path) == written


def test_none_is_known_at_first(tmp_path):
    assert Verdicts.load(tmp_path / "verdicts.json") == Verdicts(warning=None)
    assert Verdicts().of_site(SITE) == {}


def test_a_later_verdict_takes_the_place_of_an_earlier_one():
    undecided = PastVerdict(WWW, Verdict.UNDECIDED, Tally(), "2026-11-19")
    known = Verdicts().with_verdicts(SITE, [refuted(), refuted(INDEX)]).with_verdicts(SITE, [undecided])
    assert known.of_site(SITE) == {WWW: undecided, INDEX: refuted(INDEX)}
    assert known.without(SITE, [WWW]).of_site(SITE) == {INDEX: refuted(INDEX)}


def test_the_newest_are_kept(monkeypatch):
    monkeypatch.setattr(verdicts, "KEPT", 3)
    days = [refuted(Rule.of(DropParameter(f"p{day}")), f"2026-11-0{day}") for day in (1, 5, 2, 4)]
    known = Verdicts().with_verdicts(SITE, days).with_verdicts(SITE, [refuted(WWW, "2026-11-03")])
    assert [one.date for one in known.of_site(SITE).values()] == ["2026-11-03", "2026-11-04", "2026-11-05"]


def test_a_rule_that_applies_nowhere_can_be_settled():
    PastVerdict(Rule.of(Substitute("", "&sid=1")), Verdict.UNDECIDED, Tally(), "2026-11-18")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty."),
        (b"{", "line 1, column 2 is not JSON (Expecting property name enclosed in double quotes)."),
        (b'{"format": 1, "sites": {}}', "it has format 1; this version reads 2."),
        (b'{"format": 2, "sites": {"a": [["drop slash"]]}}', "one of its rows is no verdict."),
        (b'{"format": 2, "sites": {"a": [[[{"do": "drop slash"}], [], "refuted", 1, "2026-11-18"]]}}', "one of its rows has no counts."),
        (b'{"format": 2, "sites": {"a": [[[{"do": "drop slash"}], [], "refuted", 1, 2, 3, 4, 5, 6, "today"]]}}', "'date' must be a date such as '2026-11-18', got 'today'."),
        (b'{"format": 2, "sites": {"a": [[[{"do": "drop slash"}], [], "odd", 1, 2, 3, 4, 5, 6, "2026-11-18"]]}}', "'odd' is not a valid Verdict."),
        (b'{"format": 2, "sites": {"a": [[[{"do": "drop slash"}], [], "valid", 1, 2, 3, 4, 5, 6, "2026-11-18"]]}}', "a valid rule belongs into a rule book."),
        (b'{"format": 2, "sites": {"a": [[[{"do": "drop slash"}], [], "refuted", 1, 2, 3, 4, 5, -6, "2026-11-18"]]}}', "counts must not be negative."),
    ],
)  # fmt: skip
def test_a_damaged_file_is_a_new_beginning_that_says_why(tmp_path, content, said):
    path = tmp_path / "verdicts.json"
    path.write_bytes(content)
    assert Verdicts.load(path) == Verdicts(warning=f"{path}: {said} What it had decided is tried again.")


@given(st.binary(max_size=40), SITES)
def test_no_content_is_an_exception(tmp_path_factory, scribble, sites):
    path = tmp_path_factory.getbasetemp() / "scribbled.json"
    written = Verdicts().with_verdicts(SITE, [refuted(STORY), *sites.get(SITE, [])])
    update(path, lambda _: written)
    content = path.read_bytes()
    middle = len(content) // 2
    for damaged in (scribble, content[:middle], content[:middle] + scribble + content[middle:]):
        path.write_bytes(damaged)
        loaded = Verdicts.load(path)
        assert loaded.warning is None or not loaded.sites
