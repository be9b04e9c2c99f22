"""URLs with many places, and rules of all operations there are: what an operation is made of is read off its fields."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, cast

from hypothesis import strategies as st

from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.json_rules import check_rule
from scrapy_dust.rules.language import OPERATIONS
from scrapy_dust.rules.operation import Operation
from scrapy_dust.rules.path_rewriting import Rewrite
from scrapy_dust.rules.rule import Rule

NAMES = ["a", "b", "id", "a7_b"]
SHORT_ID, LONG_ID = "7d216248", "7d216248a0b8"
SEGMENTS = [
    "",
    "a",
    "b",
    "A",
    "index.html",
    "x.php",
    "12",
    "%7Eu",
    "a%2fb",
    "a;a=1",
    "b;id=2;a=x",
    ";b=1",
    SHORT_ID,
    LONG_ID,
]

segments = st.lists(st.sampled_from(SEGMENTS), max_size=5).map(tuple)
parameters = st.lists(
    st.tuples(
        st.sampled_from([*NAMES, ""]),
        st.sampled_from(["", "=", "=1", "=2", "=x%20y", "=T-1", "=1;b", f"={LONG_ID}"]),
    ),
    max_size=4,
)
urls = st.builds(
    lambda scheme, host, path, query, between, fragment: (
        f"{scheme}://{host}"
        + "".join(f"/{one}" for one in path)
        + ("?" + between.join(name + value for name, value in query) if query else "")
        + fragment
    ),
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.example", "www.a.example", "A.example", "a.example:80", "b.a.example"]),
    segments,
    parameters,
    st.sampled_from("&&;"),
    st.sampled_from(["", "#", "#top", "#!/x"]),
)
any_text = st.text(max_size=30) | st.lists(
    st.sampled_from(["http:", "//", "/", "a", "?", "#", "=", "&", ";", "%", "[", "é", "\n"]), max_size=9
).map("".join)

_texts = st.sampled_from([*NAMES, *SEGMENTS, "1", "2", "*"])
_some_segments = st.lists(st.sampled_from([one for one in SEGMENTS if one]), max_size=2).map(tuple)

#: By the annotation of a field.
_OF_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "str": _texts,
    "str | None": st.none() | _texts,
    "bool": st.booleans(),
    "int": st.integers(-2, 3),
    "tuple[str, ...]": _some_segments,
    "frozenset[str]": st.frozensets(st.sampled_from(NAMES)),
}
#: By the name of a field, where a text of any kind would do nothing to nearly every URL.
_OF_NAME: dict[str, st.SearchStrategy[Any]] = {
    "name": st.sampled_from([*NAMES, "index.html"]),
    "suffix": st.sampled_from([".php", ".html"]),
    "alias": st.sampled_from(["b.a.example", "www.a.example"]),
    "host": st.just("a.example"),
    "delimiter": st.just("-"),
    "length": st.sampled_from([6, 8]),
    "before": st.sampled_from(["a", "a7_", ""]),
    "after": st.sampled_from(["_b", "", "b"]),
    "alpha": st.sampled_from(["/a/", "id=1", ".php", "", "&a=1"]),
    "beta": st.sampled_from(["", "/", "/b/"]),
}
_REWRITES = st.sampled_from(
    [
        Rewrite(("/a?id=", 0), ("/a/", 0), ("number",)),
        Rewrite(("/", 0, "/", 1, "?id=", 2), ("/", 1, "/", 0, "_", 2), ("letters", "name", "number")),
    ]
)


@cache
def operations_of(kind: type[Operation]) -> st.SearchStrategy[Operation]:
    """All of *kind* that can be meant."""
    if kind is Rewrite:
        return _REWRITES
    made = {
        spec.name: _OF_NAME.get(spec.name, _OF_TYPE[str(spec.type)])
        if spec.type in ("str", "int")
        else _OF_TYPE[str(spec.type)]
        for spec in fields(cast("Any", kind))
    }
    return st.builds(kind, **made).filter(lambda one: is_meant(Rule.of(one)))


def is_meant(rule: Rule) -> bool:
    try:
        check_rule(rule)
    except ValueError:
        return False
    return True


@st.composite
def _operations(draw: st.DrawFn) -> Operation:
    return draw(operations_of(OPERATIONS[draw(st.sampled_from(sorted(OPERATIONS)))]))


operations = _operations()
conditions = st.builds(
    Condition,
    st.sampled_from(["host", "path", "depth", "ext", "separator", "/1", "/2", "?a", "?a:", "#:"]),
    st.sampled_from([None, "a", "1", "2", "digits", "a.example", "/a", ";", "&"]),
    st.booleans(),
)
rules = st.builds(
    Rule,
    st.lists(operations, min_size=1, max_size=2).map(tuple),
    st.lists(conditions, max_size=2).map(tuple),
)
