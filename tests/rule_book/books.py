"""Books for hypothesis, and small ones for stories."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from scrapy_dust.rule_book import Entry, Evidence, RuleBook, Status
from scrapy_dust.rule_book.document import FORMAT, Document
from scrapy_dust.rule_book.entries import COUNTS
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from tests.rules import strategies as language
from tests.strategies import rules

SITE = "a.example"
INDEX = Rule.of(Substitute("index.html", "", end=True))
WWW = Rule.of(Substitute("http://www.", "http://", start=True))
STORY = Rule.of(Substitute("story?id=", "story_"))


def document(*rules_of_site: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"format": FORMAT, "sites": {SITE: {"rules": list(rules_of_site)}}} | more


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def written(operation: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """A rule as a person might write it, with nothing that can be left out; *other*: of the operation, or of the rule."""
    done = {key: other.get(key, value) for key, value in operation.items()}
    rule = {"operations": [done], "guard": [], "status": "valid"}
    return rule | {key: value for key, value in other.items() if key not in operation}


def substring(**other: Any) -> dict[str, Any]:
    return written(
        {"do": "substitute", "alpha": "index.html", "beta": "", "start": False, "end": True}, other
    )


def parameter(**other: Any) -> dict[str, Any]:
    """Left out, or with a value set to that."""
    do = "set parameter" if isinstance(other.get("value"), str) else "drop parameter"
    return written({"do": do, "name": "sid", "value": None}, other)


def book(*entries: Entry) -> RuleBook:
    return RuleBook().with_site(SITE, entries)


# --- hypothesis -----------------------------------------------------------------------------------------------

TEXTS = st.text(max_size=8)
DATES = st.none() | st.dates().map(str)
LOGS = st.lists(st.sampled_from("abcdef"), max_size=3, unique=True).map(tuple)


def effective_rules() -> st.SearchStrategy[Rule]:
    return st.one_of(rules(), language.rules).filter(language.is_meant)


def evidences() -> st.SearchStrategy[Evidence]:
    return st.builds(
        Evidence,
        **{name: st.integers(0, 10**6) for name in COUNTS},
        loss_bound=st.none() | st.floats(0, 1),
        unseen_bound=st.none() | st.floats(0, 1),
        examples=st.lists(st.tuples(TEXTS, TEXTS), max_size=3).map(tuple),
        first_validated=DATES,
        last_validated=DATES,
        logs=LOGS,
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def extras() -> st.SearchStrategy[dict[str, Any]]:
    """Keys that this version does not know."""
    return st.dictionaries(TEXTS.map("x-{}".format), JSON, max_size=2)


def entries() -> st.SearchStrategy[Entry]:
    return st.builds(
        Entry,
        rule=effective_rules(),
        status=st.sampled_from(Status),
        evidence=evidences(),
        reason=st.none() | TEXTS,
        comment=st.none() | TEXTS,
        extra=extras(),
        evidence_extra=extras(),
    )


def of_one_site() -> st.SearchStrategy[tuple[Entry, ...]]:
    return st.lists(entries(), max_size=3, unique_by=lambda entry: entry.rule).map(tuple)


@st.composite
def books(draw: st.DrawFn) -> RuleBook:
    sites = draw(
        st.dictionaries(st.sampled_from(("a.example", "b.example", "é.example", "x")), of_one_site())
    )
    site_extra = {site: draw(extras()) for site in sites}
    return RuleBook(
        Document(sites, draw(extras()), {site: extra for site, extra in site_extra.items() if extra})
    )
