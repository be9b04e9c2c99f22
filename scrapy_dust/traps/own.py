"""Recognises words of a page that only repeat its own URL, and so are nothing new."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

_NUMBER = re.compile(r"[0-9]+")
_WORD = re.compile(rb"[a-z0-9_\x80-\xff]+")
#: Digits of a number that may be a page's own.
_LONGEST = 18


class Own:
    """The words and numbers of one URL, with the number before and after each number."""

    def __init__(self, url: str) -> None:
        path = url.partition("://")[2].partition("/")[2]
        said = unquote_plus(path) if "%" in path or "+" in path else path
        numbers = {
            int(number) for number in _NUMBER.findall(said) if len(number) <= _LONGEST and number.isascii()
        }
        self.numbers = {number + step for number in numbers for step in (-1, 0, 1)}
        self.words = frozenset(_WORD.findall(said.encode("utf-8", "surrogatepass").lower()))

    def has_number(self, word: bytes) -> bool:
        """Whether *word*, all digits, is one of the URL's numbers, or the next or the last one."""
        return len(word) <= _LONGEST and int(word) in self.numbers
