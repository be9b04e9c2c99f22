"""Finds the captures of a form in a text, as a regular expression would, in linear time.

A form is texts with captures between them, such as ``/{number}/{name}.html``; a capture stands for a run of
characters.

Texts come from strangers, and ``{name}-{name}-{name}`` on a thousand dashes keeps a regular expression busy for
minutes. As in a regular expression, a capture is the longest that lets the rest of the form fit, those on the left
first.

From the last piece to the first, the places are noted from which the rest of the form fits; a capture then ends at
the last such place that its run of characters reaches.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

Piece = str | int  #: a text, or the number of a capture
Form = tuple[Piece, ...]  #: with a text between any two captures

#: Classes of captures, from narrow to wide. All but ``numbers`` take whatever has only such characters.
CLASSES = (
    ("number", re.compile(r"[0-9]+")),
    ("letters", re.compile(r"[A-Za-z]+")),
    ("word", re.compile(r"[0-9A-Za-z]+")),
    ("numbers", re.compile(r"[0-9]+(?:[/.:_-][0-9]+)+")),
    ("name", re.compile(r"[^/?#&=;]+")),
    ("path", re.compile(r"[^?#&=;]+")),
)
_BY_NAME = dict(CLASSES)
CLASS_NAMES = tuple(_BY_NAME)
_DIGITS = _BY_NAME["number"]
_NUMBERS = re.compile(r"[0-9]+(?:[/.:_-][0-9]+)*")


def captures_of(form: Form, classes: Sequence[str], text: str) -> dict[int, str] | None:
    """The text of each capture of *form* in *text*, by the capture's number; None where *text* has another form.

    *classes*: for each capture, the class of characters that it stands for.
    """
    ends = [len(text)]
    captures: dict[int, _Capture] = {}
    for place in range(len(form) - 1, -1, -1):
        piece = form[place]
        if isinstance(piece, int):
            captures[place] = _Capture(classes[piece], text, ends)
        else:
            rest = captures.get(place + 1)
            starts = _positions_of(piece, text) if place else iter((0,) if text.startswith(piece) else ())
            after = ((start, start + len(piece)) for start in starts)
            if rest is None:
                following = set(ends)
                ends = [start for start, end in after if end in following]
            else:
                ends = [start for start, end in after if rest.end(end) is not None]
    return _captured_texts(form, captures, text) if form and (0 in captures or ends == [0]) else None


def _captured_texts(form: Form, captures: dict[int, _Capture], text: str) -> dict[int, str] | None:
    """The text of each capture of *form*, by the capture's number, read from the beginning of *text*; None if a
    capture finds no end.
    """
    found: dict[int, str] = {}
    at = 0
    for place, piece in enumerate(form):
        if isinstance(piece, str):
            at += len(piece)
            continue
        end = captures[place].end(at)
        if end is None:
            return None
        found[piece], at = text[at:end], end
    return found


def _positions_of(piece: str, text: str) -> Iterator[int]:
    at = text.find(piece)
    while at >= 0:
        yield at
        at = text.find(piece, at + 1)


class _Capture:
    """A capture of a class, after which the rest of the form may begin at *ends*."""

    def __init__(self, name: str, text: str, ends: Sequence[int]) -> None:
        self._is_numbers = name == "numbers"
        self._runs = _Runs(_NUMBERS if self._is_numbers else _BY_NAME[name], text)
        if self._is_numbers:
            self._digits = _Runs(_DIGITS, text)
            ends = [end for end in ends if end and text[end - 1] in "0123456789"]
        self._ends = ends

    def end(self, begin: int) -> int | None:
        """The last place at which the capture can end, if it begins at *begin*."""
        reach = self._runs.end(begin)
        at = bisect_right(self._ends, reach) - 1
        if at < 0 or self._ends[at] <= begin:
            return None
        end = self._ends[at]
        if self._is_numbers:
            first = self._digits.end(begin)
            # Two numbers at least, and what is between them.
            return end if begin < first < end - 1 else None
        return end


class _Runs:
    """The stretches of a text that an expression matches."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        spans = [match.span() for match in pattern.finditer(text)]
        self._begins, self._ends = [begin for begin, _ in spans], [end for _, end in spans]

    def end(self, place: int) -> int:
        """The end of the stretch in which *place* is; *place* itself outside of all stretches."""
        at = bisect_right(self._begins, place) - 1
        return max(place, self._ends[at]) if at >= 0 else place
