"""What could make one URL of another: for each place in which two URLs differ, operations from wide to narrow.

Both URLs are known to show one page. Each difference has alternatives: the widest would also hold for URLs
that nobody has seen, the narrowest says no more than this pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

from scrapy_dust.dust.edits.anatomy import Anatomy, Parameter
from scrapy_dust.dust.edits.operation import Operation
from scrapy_dust.dust.edits.paths import (
    AnySegment,
    CollapseRepeats,
    DropFrom,
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
    MapValue,
    SortParameters,
)
from scrapy_dust.dust.edits.spellings import (
    Decode,
    DropFragment,
    DropWww,
    FoldCase,
    MapHost,
    OneScheme,
    PlainHost,
)

Alternatives = tuple[Operation, ...]  #: of one difference, from wide to narrow


def differences(one: Anatomy, other: Anatomy) -> list[Alternatives]:
    """Of two URLs; an order among them is of no importance to what comes out."""
    a, b = sorted((one, other), key=smallness, reverse=True)
    return [
        *_of_scheme(a, b),
        *_of_host(a, b),
        *_of_path(a.path, b.path),
        *_of_query(a, b),
        *([(DropFragment(),)] if a.fragment != b.fragment else []),
    ]


def smallness(url: Anatomy) -> tuple[int, str]:
    """The total order in which the smaller of two forms is the key."""
    text = url.url
    return len(text), text


def _of_scheme(a: Anatomy, b: Anatomy) -> Iterator[Alternatives]:
    if a.scheme != b.scheme and {a.scheme, b.scheme} == {"http", "https"}:
        yield (OneScheme(),)


def _of_host(a: Anatomy, b: Anatomy) -> Iterator[Alternatives]:
    if a.host == b.host or a.host is None or b.host is None:
        return
    plain = PlainHost()
    if plain.apply(a).host == plain.apply(b).host:
        yield (plain,)
    elif a.host.removeprefix("www.") == b.host.removeprefix("www."):
        yield DropWww(), MapHost(a.host, b.host)
    else:
        yield (MapHost(*sorted((a.host, b.host), key=lambda host: (-len(host), host))),)


def _of_path(a: tuple[str, ...], b: tuple[str, ...]) -> Iterator[Alternatives]:
    if a == b:
        return
    for operation in (Decode(), FoldCase(), CollapseRepeats()):
        if _same_path(operation, a, b):
            yield (operation,)
            return
    if bool(a[-1]) is not bool(b[-1]):
        a, b = (a, b) if a[-1] else (b, a)
        if a[:-1] == b[:-1]:
            yield DropLast(a[-1]), DropFrom(len(a) - 1)
            return
        yield (DropSlash(),)
        b = b[:-1]
    yield from _of_segments(a, b)


def _of_segments(a: tuple[str, ...], b: tuple[str, ...]) -> Iterator[Alternatives]:
    for tag, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "delete":
            yield from _optional(a, i, j)
        elif tag == "insert":
            yield from _optional(b, k, m)
        elif tag == "replace":
            yield from _replaced(a, b, (i, j), (k, m))


def _same_path(operation: Operation, a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    forms = [operation.apply(Anatomy(None, None, path, None, None)).path for path in (a, b)]
    return forms[0] == forms[1]


def _optional(path: tuple[str, ...], begin: int, end: int) -> Iterator[Alternatives]:
    """Segments that the one path has and the other does not."""
    run = path[begin:end]
    if not begin or not any(run):
        return
    if end == len(path):
        last = (DropLast(run[0]),) if len(run) == 1 else ()
        yield (DropFrom(begin), *last, MapSegments(run, ()))
    else:
        yield (MapSegments(run, ()),)


def _replaced(
    a: tuple[str, ...], b: tuple[str, ...], here: tuple[int, int], there: tuple[int, int]
) -> Iterator[Alternatives]:
    run, other = a[slice(*here)], b[slice(*there)]
    if not here[0]:
        return
    longer, shorter = sorted((run, other), key=lambda one: (-len(one), -len("/".join(one)), one))
    narrow: list[Operation] = [MapSegments(longer, shorter)]
    if len(run) == len(other) == 1:
        if here[1] == len(a) and there[1] == len(b):
            narrow = [*_suffixes(longer[0], shorter[0]), *narrow]
        if here == there:
            narrow.insert(0, AnySegment(here[0]))
    yield tuple(narrow)


def _suffixes(one: str, other: str) -> Iterator[Operation]:
    """Two last segments that differ in what follows the last dot, or the first one of several."""
    stem = 0
    while stem < min(len(one), len(other)) and one[stem] == other[stem]:
        stem += 1
    dot = one.rfind(".", 0, stem + 1)
    if stem and (dot == stem or (dot > 0 and "." in other[dot:])):
        cut = dot if dot < stem or other[stem:] else stem
        if one[:cut] and cut:
            yield MapSuffix(one[cut:], other[cut:])


def _of_query(a: Anatomy, b: Anatomy) -> Iterator[Alternatives]:
    here, there = a.query, b.query
    if here == there:
        return
    if not here or not there:
        yield from _whole_query(here or there or ())
        return
    decode = Decode()
    if any("%" in (v or "") or "%" in n for n, v in (*here, *there)):
        forms = [decode.apply(one).query or () for one in (a, b)]
        before = len(Counter(here) & Counter(there))
        if len(Counter(forms[0]) & Counter(forms[1])) > before:
            yield (decode,)
            here, there = forms
    if len(set(here)) < len(here) or len(set(there)) < len(there):
        once = [tuple(dict.fromkeys(one)) for one in (here, there)]
        if _leftover(*once) < _leftover(here, there):
            yield (DropRepeated(),)
            here, there = once
    yield from _order(here, there)
    yield from _parameters(here, there)


def _whole_query(query: tuple[Parameter, ...]) -> Iterator[Alternatives]:
    named = [one for one in query if one[0] or one[1]]
    if not named:
        yield DropEmpty(), DropQuery()
        return
    if len(named) == 1 and named[0][1] is None:
        yield (DropQuery(), *_dropped(named[0]))
        return
    for one in dict.fromkeys(named):
        yield _dropped(one)


def _leftover(here: tuple[Parameter, ...], there: tuple[Parameter, ...]) -> int:
    x, y = Counter(here), Counter(there)
    return (x - y).total() + (y - x).total()


def _order(here: tuple[Parameter, ...], there: tuple[Parameter, ...]) -> Iterator[Alternatives]:
    common = Counter(here) & Counter(there)
    one, other = ([pair for pair in query if pair in common] for query in (here, there))
    if one == other:
        return
    by_name = [sorted(pairs, key=lambda pair: pair[0]) for pairs in (one, other)]
    if by_name[0] == by_name[1]:
        yield SortParameters(), SortParameters(values=True)
    else:
        yield (SortParameters(values=True),)


def _parameters(here: tuple[Parameter, ...], there: tuple[Parameter, ...]) -> Iterator[Alternatives]:
    mine, theirs = Counter(here) - Counter(there), Counter(there) - Counter(here)
    names = dict.fromkeys([name for name, _ in (*mine, *theirs)])
    for name in names:
        x = [value for key, value in mine if key == name]
        y = [value for key, value in theirs if key == name]
        if len(x) == len(y) == 1 and x[0] is not None and y[0] is not None:
            yield _other_value(name, x[0], y[0])
        else:
            for value in dict.fromkeys([*x, *y]):
                yield _dropped((name, value))


def _dropped(parameter: Parameter) -> Alternatives:
    name, value = parameter
    if not name:
        return (DropEmpty(),)
    if not value:
        return DropEmpty(), DropParameter(name), DropParameter(name, value or "")
    return DropParameter(name), DropParameter(name, value)


def _other_value(name: str, value: str, other: str) -> Alternatives:
    shared = 0
    while shared < min(len(value), len(other)) and value[shared] == other[shared]:
        shared += 1
    delimiter = value[shared - 1] if shared else ""
    is_first = delimiter and not delimiter.isdigit() and delimiter not in value[: shared - 1]
    cut = (CutValue(name, delimiter),) if is_first else ()
    longer, shorter = sorted((value, other), key=lambda one: (-len(one), one))
    return DropParameter(name), AnyValue(name), *cut, MapValue(name, longer, shorter)
