"""Finds URLs that look as if fetching them did something: logging out, deleting, putting into a cart.

A URL is split into words: the parts of its path, and the names and values of its parameters, split where letters end
and where a capital begins, so that ``log-out``, ``logOut`` and ``log%2Dout`` are the same. A word of the list is
found if consecutive words of the URL make it up, and at the beginning or the end of a longer word (``deleteUser``,
``deletepost``, ``dologout``) if it has five letters or more; ``buy`` is not in ``buying``. Time is linear in the URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

_LETTERS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_NOT_A_WORD = re.compile(r"[\W_]+")
#: A shorter word of the list is found only as a whole word.
_LONG = 5


def words_of(text: str) -> Iterator[list[str]]:
    """The words of *text* in lower case; each list is one run of letters and digits."""
    for run in _NOT_A_WORD.split(unquote(unquote(text))):
        words = [word.lower() for word in _LETTERS.findall(run)]
        if words:
            yield words


class ActionWords:
    """The list of words for actions, prepared for the search."""

    def __init__(self, words: Iterable[str]) -> None:
        self._whole = {"".join(part for run in words_of(word) for part in run) for word in words} - {""}
        self._longest = max(map(len, self._whole), default=0)
        self._inside = {word for word in self._whole if len(word) >= _LONG}
        self._lengths = sorted({len(word) for word in self._inside})

    def __contains__(self, url: object) -> bool:
        """Whether *url* looks like an action. A text that is no URL counts as one, to be safe."""
        try:
            parts = urlsplit(str(url))
        except ValueError:
            return True
        return any(self._has_action(text) for text in (parts.path, parts.query, parts.fragment) if text)

    def _has_action(self, text: str) -> bool:
        runs = list(words_of(text))
        return self._join_to_action([word for run in runs for word in run]) or any(
            self._begins_or_ends_with_action("".join(run)) for run in runs
        )

    def _join_to_action(self, words: list[str]) -> bool:
        """Whether some of *words* in a row, joined, are a word of the list."""
        for first in range(len(words)):
            together = ""
            for word in words[first : first + self._longest + 1]:
                together += word
                if together in self._whole:
                    return True
                if len(together) > self._longest:
                    break
        return False

    def _begins_or_ends_with_action(self, run: str) -> bool:
        return any(run[:length] in self._inside or run[-length:] in self._inside for length in self._lengths)
