"""Operations that could turn one URL into another: for each place in which they differ, from wide to narrow.

Both URLs are known to show one page. Each difference has alternatives: the widest would also hold for URLs that
nobody has seen, the narrowest for this pair alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

from scrapy_dust.rules.operation import Operation
from scrapy_dust.rules.parameters import (
    AnyValue,
    CutValue,
    DropNumbered,
    DropParameter,
    MapValue,
    ShortenValue,
)
from scrapy_dust.rules.paths import (
    AnySegment,
    CollapseRepeats,
    CutSegment,
    DropFrom,
    DropLast,
    DropSlash,
    MapSegments,
    MapSuffix,
)
from scrapy_dust.rules.queries import DropEmpty, DropQuery, DropRepeated, SortParameters
from scrapy_dust.rules.spellings import Decode, DropFragment, DropWww, FoldCase, MapHost, OneScheme, PlainHost
from scrapy_dust.url.parts import Parts, without_path_parameters
from scrapy_dust.url.value_classes import is_cut

Pair = tuple[str, str | None]  #: a parameter's name and value
Alternatives = tuple[Operation, ...]  #: of one difference, from wide to narrow


def differences(one: Parts, other: Parts) -> list[Alternatives]:
    """The differences between two URLs. Their order does not matter."""
    a, b = sorted((one, other), key=smallness, reverse=True)
    return [
        *_differences_of_scheme(a, b),
        *_differences_of_host(a, b),
        *_differences_of_path(_plain_segments(a), _plain_segments(b)),
        *_differences_of_path_parameters(a, b),
        *_differences_of_query(a, b),
        *([(DropFragment(),)] if a.fragment != b.fragment else []),
    ]


def smallness(url: Parts) -> tuple[int, str]:
    """A sort key for URLs: of two forms, the smaller one is the key."""
    text = url.url
    return len(text), text


def _differences_of_scheme(a: Parts, b: Parts) -> Iterator[Alternatives]:
    if a.scheme != b.scheme and {a.scheme, b.scheme} == {"http", "https"}:
        yield (OneScheme(),)


def _differences_of_host(a: Parts, b: Parts) -> Iterator[Alternatives]:
    if a.host == b.host or a.host is None or b.host is None:
        return
    plain = PlainHost()
    if plain.apply(a).host == plain.apply(b).host:
        yield (plain,)
    elif a.host.removeprefix("www.") == b.host.removeprefix("www."):
        yield DropWww(), MapHost(a.host, b.host)
    else:
        yield (MapHost(*sorted((a.host, b.host), key=lambda host: (-len(host), host))),)


def _plain_segments(url: Parts) -> tuple[str, ...]:
    return tuple(map(without_path_parameters, url.path))


def _differences_of_path_parameters(a: Parts, b: Parts) -> Iterator[Alternatives]:
    if a.has_parameters_in_path or b.has_parameters_in_path:
        yield from _differences_of_parameters(tuple(a.path_parameters), tuple(b.path_parameters))


def _differences_of_path(a: tuple[str, ...], b: tuple[str, ...]) -> Iterator[Alternatives]:
    if a == b:
        return
    for operation in (Decode(), FoldCase(), CollapseRepeats()):
        if _makes_equal(operation, a, b):
            yield (operation,)
            return
    if bool(a[-1]) is not bool(b[-1]):
        a, b = (a, b) if a[-1] else (b, a)
        if a[:-1] == b[:-1]:
            yield DropLast(a[-1]), DropFrom(len(a) - 1)
            return
        yield (DropSlash(),)
        b = b[:-1]
    yield from _differences_of_segments(a, b)


def _differences_of_segments(a: tuple[str, ...], b: tuple[str, ...]) -> Iterator[Alternatives]:
    for tag, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "delete":
            yield from _differences_of_optional(a, i, j)
        elif tag == "insert":
            yield from _differences_of_optional(b, k, m)
        elif tag == "replace":
            yield from _differences_of_replaced(a, b, (i, j), (k, m))


def _makes_equal(operation: Operation, a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    forms = [operation.apply(Parts(None, None, path, None, None)).path for path in (a, b)]
    return forms[0] == forms[1]


def _differences_of_optional(path: tuple[str, ...], begin: int, end: int) -> Iterator[Alternatives]:
    """Operations on segments that one path has and the other lacks."""
    run = path[begin:end]
    if not begin or not any(run):
        return
    if end == len(path):
        last = (DropLast(run[0]),) if len(run) == 1 else ()
        yield (DropFrom(begin), *last, MapSegments(run, ()))
    else:
        yield (MapSegments(run, ()),)


def _differences_of_replaced(
    a: tuple[str, ...], b: tuple[str, ...], here: tuple[int, int], there: tuple[int, int]
) -> Iterator[Alternatives]:
    """Operations on segments that differ: those in the range *here* of the path *a*, and *there* of *b*."""
    run, other = a[slice(*here)], b[slice(*there)]
    if not here[0]:
        return
    longer, shorter = sorted((run, other), key=lambda one: (-len(one), -len("/".join(one)), one))
    narrow: list[Operation] = [MapSegments(longer, shorter)]
    if len(run) == len(other) == 1:
        if here[1] == len(a) and there[1] == len(b):
            narrow = [*_suffix_operations(longer[0], shorter[0]), *narrow]
        if here == there:
            if is_cut(longer[0], shorter[0]):
                narrow.insert(0, CutSegment(here[0], len(shorter[0])))
            narrow.insert(0, AnySegment(here[0]))
    yield tuple(narrow)


def _suffix_operations(one: str, other: str) -> Iterator[Operation]:
    """Operations on last segments that differ only behind a dot."""
    stem = 0
    while stem < min(len(one), len(other)) and one[stem] == other[stem]:
        stem += 1
    dot = one.rfind(".", 0, stem + 1)
    if stem and (dot == stem or (dot > 0 and "." in other[dot:])):
        cut = dot if dot < stem or other[stem:] else stem
        if one[:cut] and cut:
            yield MapSuffix(one[cut:], other[cut:])


def _differences_of_query(a: Parts, b: Parts) -> Iterator[Alternatives]:
    here, there = _query_pairs(a), _query_pairs(b)
    if here == there:
        return
    if not here or not there:
        yield from _differences_of_whole_query(here or there or ())
        return
    decode = Decode()
    if any("%" in (v or "") or "%" in n for n, v in (*here, *there)):
        forms = [_query_pairs(decode.apply(one)) or () for one in (a, b)]
        before = len(Counter(here) & Counter(there))
        if len(Counter(forms[0]) & Counter(forms[1])) > before:
            yield (decode,)
            here, there = forms
    if len(set(here)) < len(here) or len(set(there)) < len(there):
        once = [tuple(dict.fromkeys(one)) for one in (here, there)]
        if _count_unequal(*once) < _count_unequal(here, there):
            yield (DropRepeated(),)
            here, there = once
    yield from _differences_of_order(here, there)
    yield from _differences_of_parameters(here, there)


def _query_pairs(url: Parts) -> tuple[Pair, ...] | None:
    return None if url.query is None else tuple(one.pair for one in url.query)


def _differences_of_whole_query(query: tuple[Pair, ...]) -> Iterator[Alternatives]:
    named = [one for one in query if one[0] or one[1]]
    if not named:
        yield DropEmpty(), DropQuery()
        return
    if len(named) == 1 and named[0][1] is None:
        yield (DropQuery(), *_ways_to_drop(named[0]))
        return
    for one in dict.fromkeys(named):
        yield _ways_to_drop(one)


def _count_unequal(here: tuple[Pair, ...], there: tuple[Pair, ...]) -> int:
    x, y = Counter(here), Counter(there)
    return (x - y).total() + (y - x).total()


def _differences_of_order(here: tuple[Pair, ...], there: tuple[Pair, ...]) -> Iterator[Alternatives]:
    one = [pair for pair in here if pair in there]
    other = [pair for pair in there if pair in here]
    if one == other:
        return
    by_name = [sorted(pairs, key=lambda pair: pair[0]) for pairs in (one, other)]
    if by_name[0] == by_name[1]:
        yield SortParameters(), SortParameters(values=True)
    else:
        yield (SortParameters(values=True),)


def _differences_of_parameters(here: tuple[Pair, ...], there: tuple[Pair, ...]) -> Iterator[Alternatives]:
    mine, theirs = _more_often(here, there), _more_often(there, here)
    names = dict.fromkeys([name for name, _ in (*mine, *theirs)])
    for name in names:
        x = [value for key, value in mine if key == name]
        y = [value for key, value in theirs if key == name]
        if len(x) == len(y) == 1 and x[0] is not None and y[0] is not None:
            yield _ways_to_change_value(name, x[0], y[0])
        else:
            for value in dict.fromkeys([*x, *y]):
                yield _ways_to_drop((name, value))


def _more_often(here: tuple[Pair, ...], there: tuple[Pair, ...]) -> list[Pair]:
    """The pairs that *here* has more often than *there*."""
    return [pair for pair in dict.fromkeys(here) if here.count(pair) > there.count(pair)]


def _ways_to_drop(parameter: Pair) -> Alternatives:
    name, value = parameter
    if not name:
        return (DropEmpty(),)
    if not value:
        return DropEmpty(), DropParameter(name), DropParameter(name, value or "")
    return DropParameter(name), DropParameter(name, value)


def _ways_to_change_value(name: str, value: str, other: str) -> Alternatives:
    shared = 0
    while shared < min(len(value), len(other)) and value[shared] == other[shared]:
        shared += 1
    delimiter = value[shared - 1] if shared else ""
    is_first = delimiter and not delimiter.isdigit() and delimiter not in value[: shared - 1]
    cut: list[Operation] = [CutValue(name, delimiter)] if is_first else []
    longer, shorter = sorted((value, other), key=lambda one: (-len(one), one))
    if is_cut(longer, shorter):
        cut.append(ShortenValue(name, len(shorter)))
    return DropParameter(name), AnyValue(name), *cut, MapValue(name, longer, shorter)


def drop_numbered_operations(one: Parts, other: Parts) -> Iterator[Operation]:
    """Operations that leave out numbered parameters: where the URLs differ in ``id38=``, all of ``id1=``, ``id2=`` and so on."""
    mine, theirs = tuple(one.parameters), tuple(other.parameters)
    for name in dict.fromkeys([name for name, _ in (*_more_often(mine, theirs), *_more_often(theirs, mine))]):
        found = DropNumbered.like(name)
        if found is not None:
            yield found
