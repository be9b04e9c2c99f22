"""URLs with many places, and edits of all kinds."""

from __future__ import annotations

from hypothesis import strategies as st

from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.guards import Condition
from scrapy_dust.dust.edits.paths import (
    AnySegment,
    CollapseRepeats,
    DropFrom,
    DropIndex,
    DropLast,
    DropSlash,
    MapSegments,
    MapSuffix,
)
from scrapy_dust.dust.edits.queries import (
    AnyValue,
    CutValue,
    DropEmpty,
    DropParameter,
    DropQuery,
    DropRepeated,
    KeepParameters,
    MapValue,
    SortParameters,
)
from scrapy_dust.dust.edits.rewriting import Rewrite
from scrapy_dust.dust.edits.spellings import (
    Decode,
    DropFragment,
    DropWww,
    FoldCase,
    MapHost,
    OneScheme,
    PlainHost,
)
from scrapy_dust.dust.edits.substituting import Substitute
from scrapy_dust.dust.rules import SubstringRule

NAMES = ["a", "b", "id"]
SEGMENTS = ["", "a", "b", "A", "index.html", "x.php", "12", "%7Eu", "a%2fb"]

segments = st.lists(st.sampled_from(SEGMENTS), max_size=5).map(tuple)
parameters = st.lists(
    st.tuples(st.sampled_from([*NAMES, ""]), st.sampled_from(["", "=", "=1", "=2", "=x%20y", "=T-1"])),
    max_size=4,
)
urls = st.builds(
    lambda scheme, host, path, query, fragment: (
        f"{scheme}://{host}"
        + "".join(f"/{one}" for one in path)
        + ("?" + "&".join(name + value for name, value in query) if query else "")
        + fragment
    ),
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.example", "www.a.example", "A.example", "a.example:80", "b.a.example"]),
    segments,
    parameters,
    st.sampled_from(["", "#", "#top", "#!/x"]),
)
any_text = st.text(max_size=30) | st.lists(
    st.sampled_from(["http:", "//", "/", "a", "?", "#", "=", "&", ";", "%", "[", "é", "\n"]), max_size=9
).map("".join)

some_segments = st.lists(st.sampled_from([one for one in SEGMENTS if one]), min_size=1, max_size=2).map(tuple)
operations = st.one_of(
    st.sampled_from(
        [
            Decode(),
            FoldCase(),
            OneScheme(),
            PlainHost(),
            DropWww(),
            DropFragment(),
            DropSlash(),
            DropIndex(),
            CollapseRepeats(),
            DropEmpty(),
            DropQuery(),
            DropRepeated(),
            SortParameters(),
            SortParameters(values=True),
            MapHost("b.a.example", "a.example"),
            Rewrite(("/a?id=", 0), ("/a/", 0), ("number",)),
            Rewrite(("/", 0, "/", 1, "?id=", 2), ("/", 1, "/", 0, "_", 2), ("letters", "name", "number")),
        ]
    ),
    st.builds(
        Substitute,
        st.builds(
            SubstringRule,
            st.sampled_from(["/a/", "id=1", ".php"]),
            st.sampled_from(["", "/", "/b/"]),
            end=st.booleans(),
        ),
    ),
    st.builds(DropLast, st.sampled_from(["index.html", "a"])),
    st.builds(MapSuffix, st.sampled_from([".php", ".html"]), st.sampled_from(["", ".htm"])),
    st.builds(MapSegments, some_segments, some_segments | st.just(())).filter(
        lambda one: one.segments != one.other
    ),
    st.builds(AnySegment, st.integers(-2, 3).filter(bool)),
    st.builds(DropFrom, st.integers(1, 3)),
    st.builds(DropParameter, st.sampled_from(NAMES), st.sampled_from([None, "", "1"])),
    st.builds(KeepParameters, st.frozensets(st.sampled_from(NAMES))),
    st.builds(AnyValue, st.sampled_from(NAMES)),
    st.builds(CutValue, st.sampled_from(NAMES), st.just("-")),
    st.builds(MapValue, st.sampled_from(NAMES), st.sampled_from(["1", "2"]), st.sampled_from(["1", "2"])),
)
conditions = st.builds(
    Condition,
    st.sampled_from(["host", "path", "depth", "ext", "/1", "/2", "?a", "?a:", "#:"]),
    st.sampled_from([None, "a", "1", "2", "digits", "a.example", "/a"]),
    st.booleans(),
)
edits = st.builds(
    Edit,
    st.lists(operations, min_size=1, max_size=2).map(tuple),
    st.lists(conditions, max_size=2).map(tuple),
)
