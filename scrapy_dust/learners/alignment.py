"""Aligns the URLs of one page in columns; DUSTER reads its rules off the columns.

A consensus is a sequence of sets of tokens, one set a column; a column that some URL has no token in has a gap. Two
consensuses are aligned by Needleman and Wunsch: a column against a column scores the Jaccard resemblance of their
sets, nothing where the kinds of their tokens differ, and a gap costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

TOKEN = re.compile(r"[A-Za-z]+|[0-9]+|[^A-Za-z0-9]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Column:
    """The tokens that stand in one column of an alignment."""

    tokens: frozenset[str]
    gap: bool = False

    @property
    def kind(self) -> str | None:
        """The kind of all tokens: ``a`` letters, ``0`` digits, or the one delimiter; None for mixed tokens."""
        kinds = {kind_of(token) for token in self.tokens}
        return kinds.pop() if len(kinds) == 1 else None


Consensus = tuple[Column, ...]


def kind_of(token: str) -> str:
    """The kind of *token*: ``a`` letters, ``0`` digits, or the token itself."""
    if token.isascii() and token.isalpha():
        return "a"
    return "0" if token.isascii() and token.isdigit() else token


def consensus_of(urls: Sequence[str]) -> Consensus:
    """One row for many URLs: the two most similar rows become their consensus, until one row is left."""
    rows = {number: as_columns(url) for number, url in enumerate(urls)}
    scores = {pair: best_alignment(rows[pair[0]], rows[pair[1]])[0] for pair in combinations(rows, 2)}
    following = len(rows)
    while len(rows) > 1:
        best = min(scores, key=lambda pair: (-scores[pair], pair))
        merged = best_alignment(rows.pop(best[0]), rows.pop(best[1]))[1]
        scores = {pair: score for pair, score in scores.items() if not set(pair) & set(best)}
        scores |= {(number, following): best_alignment(row, merged)[0] for number, row in rows.items()}
        rows[following] = merged
        following += 1
    return rows.popitem()[1]


def as_columns(url: str) -> Consensus:
    """*url* as a row with a column for each token."""
    return tuple(Column(frozenset({token})) for token in TOKEN.findall(url))


def best_alignment(a: Consensus, b: Consensus) -> tuple[float, Consensus]:
    """The score of the best alignment, and the consensus of the two."""
    # What is equal at both ends is aligned in some best alignment: nothing scores more, and gaps are free.
    head = _equal_at_beginning(a, b)
    tail = _equal_at_beginning(a[head:][::-1], b[head:][::-1])
    left, right = a[head : len(a) - tail], b[head : len(b) - tail]
    score, middle = _align(left, right)
    return score + head + tail, (
        *_merged_in_place(a[:head], b),
        *middle,
        *_merged_in_place(a[len(a) - tail :], b[len(b) - tail :]),
    )


def _equal_at_beginning(a: Consensus, b: Consensus) -> int:
    """The number of columns at the beginning of *a* that *b* begins with too."""
    length = 0
    for x, y in zip(a, b, strict=False):
        if x.tokens != y.tokens:
            break
        length += 1
    return length


def _merged_in_place(a: Consensus, b: Consensus) -> Consensus:
    """Each column of *a* merged with the column of *b* at the same place."""
    return tuple(_merged_column(x, y) for x, y in zip(a, b, strict=False))


def _merged_column(a: Column, b: Column) -> Column:
    return a if a == b else Column(a.tokens | b.tokens, a.gap or b.gap)


def _align(a: Consensus, b: Consensus) -> tuple[float, list[Column]]:
    """The score of the best alignment of *a* and *b*, and its columns."""
    table = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, left in enumerate(a, start=1):
        above, row = table[i - 1], table[i]
        for j, right in enumerate(b, start=1):
            row[j] = max(above[j], row[j - 1], above[j - 1] + _jaccard(left.tokens, right.tokens))
    return table[-1][-1], _traced(a, b, table)[::-1]


def _traced(a: Consensus, b: Consensus, table: list[list[float]]) -> list[Column]:
    """The alignment, traced backwards. Of ways with equal scores, tokens of one kind share a column as variants."""
    columns = []
    i, j = len(a), len(b)
    while i or j:
        if i and j and _stand_together(a[i - 1], b[j - 1], table[i][j] - table[i - 1][j - 1]):
            i, j = i - 1, j - 1
            columns.append(_merged_column(a[i], b[j]))
        elif j and (not i or table[i][j] == table[i][j - 1]):
            j -= 1
            columns.append(Column(b[j].tokens, gap=True))
        else:
            i -= 1
            columns.append(Column(a[i].tokens, gap=True))
    return columns


def _stand_together(a: Column, b: Column, gained: float) -> bool:
    """Whether the best alignment puts *a* and *b* into one column. *gained*: the score that this must add."""
    match = _jaccard(a.tokens, b.tokens)
    # Sums of the same fractions in another order may differ in the last bit.
    return abs(gained - match) < 1e-9 and (match > 0 or (a.kind is not None and a.kind == b.kind))


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / len(a | b) if shared else 0.0
