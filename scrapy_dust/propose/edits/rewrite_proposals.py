"""Rewriting rules that pairs of URLs suggest: a text here in one URL stands there in the other.

Texts that both URLs of a pair have become captures; pairs with the same other texts make one rule. A capture that is
equal in all pairs becomes part of the rule; one that varies gets the narrowest class that all values have, so that
``/questions/tagged/x`` is not taken for ``/questions/12/x``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scrapy_dust.rules.captures import CLASSES, Form, Piece
from scrapy_dust.rules.path_rewriting import Rewrite, rest_of
from scrapy_dust.url.parts import Parts
from scrapy_dust.url.tokens import tokenize


@dataclass(frozen=True, slots=True)
class _Instance:
    """A pair of URLs that show one content, as two forms with the same captures."""

    form: Form
    other: Form
    values: tuple[str, ...]
    content: Hashable


_TOKENS = 60  #: in a URL that is looked at
_CAPTURES = 4


def rewrites(pairs: Iterable[tuple[Parts, Parts, Hashable]], *, directed: bool = False) -> Iterator[Rewrite]:
    """Rules with at least two contents as instances. Each pair comes with its content.

    The rules lead to the shorter URL or, *directed*, from the first to the second.
    """
    found: dict[tuple[Form, Form], list[_Instance]] = {}
    for one, other, content in pairs:
        if one.host == other.host and one.scheme == other.scheme and one.path != other.path:
            texts = [rest_of(one), rest_of(other)]
            if not directed:
                texts.sort(key=lambda text: (-len(text), text))
            instance = _instance_of_pair(texts[0], texts[1], content)
            if instance is not None:
                found.setdefault((instance.form, instance.other), []).append(instance)
    for instances in found.values():
        if len({instance.content for instance in instances}) > 1:
            rule = _generalize(instances)
            if rule is not None:
                yield rule


def _instance_of_pair(one: str, other: str, content: Hashable) -> _Instance | None:
    """Two URLs with the texts that both have as captures; None if they are too long or have no text in common."""
    here, there = tokenize(one), tokenize(other)
    if len(here) > _TOKENS or len(there) > _TOKENS:
        return None
    mine: list[Piece] = list(here)
    theirs: list[Piece] = list(there)
    values: list[str] = []
    while len(values) < _CAPTURES:
        i, k, size = _longest_common_run(mine, theirs)
        if not size:
            break
        values.append("".join(map(str, mine[i : i + size])))
        mine[i : i + size] = theirs[k : k + size] = [len(values) - 1]
    if not values:
        return None
    return _Instance(_join_pieces(mine), _join_pieces(theirs), tuple(values), content)


def _longest_common_run(here: Sequence[Piece], there: Sequence[Piece]) -> tuple[int, int, int]:
    """The longest run of texts with a letter or digit that both share: its position in each, and its length."""
    best = (0, 0, 0)
    ends: dict[int, int] = {}
    for i, piece in enumerate(here):
        following: dict[int, int] = {}
        if isinstance(piece, str):
            for k, candidate in enumerate(there):
                if piece == candidate and isinstance(candidate, str):
                    size = following[k] = ends.get(k - 1, 0) + 1
                    run = here[i - size + 1 : i + 1]
                    if size > best[2] and any(isinstance(one, str) and one[:1].isalnum() for one in run):
                        best = (i - size + 1, k - size + 1, size)
        ends = following
    return best


def _join_pieces(pieces: Sequence[Piece]) -> Form:
    """*pieces* with neighbouring texts joined."""
    form: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str) and form and isinstance(form[-1], str):
            form[-1] += piece
        else:
            form.append(piece)
    return tuple(form)


def _generalize(instances: Sequence[_Instance]) -> Rewrite | None:
    """One rule of which all *instances* are instances; None if it would say nothing."""
    texts: dict[int, list[Piece]] = {}
    classes: list[str] = []
    for values in zip(*(instance.values for instance in instances), strict=True):
        before, varying, after = _split_common([tokenize(value) for value in values])
        if varying is None:
            texts[len(texts)] = [before]
            continue
        kind = next(
            (name for name, pattern in CLASSES if all(pattern.fullmatch(value) for value in varying)), None
        )
        if kind is None:
            return None
        texts[len(texts)] = [before, len(classes), after]
        classes.append(kind)
    form, other = (_fill_form(one, texts) for one in (instances[0].form, instances[0].other))
    captured = [piece for piece in form if isinstance(piece, int)]
    if not classes or form == other or len(captured) < len(classes):
        return None
    if any(isinstance(a, int) and isinstance(b, int) for a, b in pairwise(form)):
        return None
    return Rewrite(form, other, tuple(classes))


def _split_common(values: Sequence[list[str]]) -> tuple[str, list[str] | None, str]:
    """The beginning that all *values* share, the part that varies (None if none does), and the end that all share."""
    if all(value == values[0] for value in values):
        return "".join(values[0]), None, ""
    least = min(map(len, values))
    head = 0
    while head < least - 1 and len({value[head] for value in values}) == 1:
        head += 1
    tail = 0
    while tail < least - head - 1 and len({value[-1 - tail] for value in values}) == 1:
        tail += 1
    varying = ["".join(value[head : len(value) - tail]) for value in values]
    return "".join(values[0][:head]), varying, "".join(values[0][len(values[0]) - tail :])


def _fill_form(form: Form, texts: dict[int, list[Piece]]) -> Form:
    """*form* with its captures replaced by the pieces in *texts*."""
    pieces: list[Piece] = []
    for piece in form:
        pieces += [one for one in texts[piece] if one != ""] if isinstance(piece, int) else [piece]
    return _join_pieces(pieces)
