"""The value at a place as 32 bits: a hash of the text, and a hash of its shape.

The upper bits hash the shape, in which each word with a digit is the same, so that a clock or a counter can be told
from other changes; the lower bits hash the text itself. `units` keeps fewer bits of both. A long text is cut into
pieces, so that a changed word spoils one piece. The words decide where to cut, so that an inserted word does not move
later cuts.
"""

from __future__ import annotations

import re

from xxhash import xxh3_64_intdigest

from scrapy_dust.page.places import SHAPE_BITS
from scrapy_dust.page.words import has_unspaced

#: Words of a piece of text.
MAX_WORDS_OF_PIECE = 12
_CHARACTERS_OF_PIECE = 20
#: Bits of a value that tell the shape of a text with digits, and those that tell the text.
_SHAPE = (1 << SHAPE_BITS) - 1 << 32 - SHAPE_BITS
_EXACT = (1 << 32 - SHAPE_BITS) - 1
_DIGIT = re.compile("[0-9]")
#: Of a word with a digit the signs of currencies belong to its shape. Letters do not: it may be a token.
_SIGNS = re.compile("[$¢£¤¥₠-⃏]")
# From where a word begins: else each letter of a long word would be a begin.
_NUMBER = re.compile(r"(?<![^\W_])[^\W_0-9]*+[0-9][^\W_]*+")
_SAYING = re.compile(r"\S")

# A piece ends where a sentence does, and after one word in twenty or so, as its last letter says.
_ENDING = "".join(
    chr(code)
    for code in range(0x21, 0x3000)
    if code % 16 == 8 and not (chr(code).isspace() or chr(code).isdigit())
)
_ENDS = re.escape(f".!?…。！？{_ENDING}")
_PIECE = re.compile(rf"(?:[^ ]*[^ {_ENDS}] ){{0,{MAX_WORDS_OF_PIECE - 1}}}+[^ ]+")
_PIECE_UNSPACED = re.compile(rf"[^ {_ENDS}]{{0,{_CHARACTERS_OF_PIECE - 1}}}[^ ]")


def value_of(text: str) -> int:
    """The 32 bits of one piece of text."""
    if not _DIGIT.search(text):
        return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) & 0xFFFFFFFF
    return _with_shape(_shape_of(text.split()), text)


def values_of(text: str) -> tuple[int, ...]:
    """The 32 bits of each piece of *text*; none if *text* is white space."""
    pieces = pieces_of(text)
    if _DIGIT.search(text):
        return tuple([value for piece in pieces for value in (value_of(piece), *_of_numbers(piece))])
    hashes = [xxh3_64_intdigest(piece.encode("utf-8", "surrogatepass")) for piece in pieces]
    return tuple([exact & 0xFFFFFFFF for exact in hashes])


def parts_of(text: str) -> list[int]:
    """The value of each number in a text that has several, whatever stands between them: ``buy(7, 'f3a1')``."""
    numbers = _NUMBER.findall(text)
    if not 2 <= len(numbers) <= MAX_WORDS_OF_PIECE:
        return []
    around = _NUMBER.sub("#", text)
    return [_with_shape(f"{around} {place}", number) for place, number in enumerate(numbers)]


def _of_numbers(piece: str) -> list[int]:
    """The value of each word with a digit, if there are several: beside a clock a price still counts."""
    words = piece.split()
    numbers = [word for word in words if _DIGIT.search(word)]
    if len(numbers) < 2:
        return []
    around = _shape_of(words)
    return [_with_shape(f"{around} {number}", word) for number, word in enumerate(numbers)]


def _shape_of(words: list[str]) -> str:
    return " ".join(["".join(_SIGNS.findall(word)) + "#" if _DIGIT.search(word) else word for word in words])


def _with_shape(shape: str, said: str) -> int:
    exact = xxh3_64_intdigest(said.encode("utf-8", "surrogatepass"))
    return xxh3_64_intdigest(shape.encode("utf-8", "surrogatepass")) & _SHAPE | exact & _EXACT


def pieces_of(text: str) -> list[str]:
    """*text* with white space collapsed, cut into pieces if it is long."""
    words = text.split()
    collapsed = " ".join(words)
    if not collapsed.isascii() and has_unspaced(collapsed):
        return _PIECE_UNSPACED.findall(collapsed)
    if len(words) > MAX_WORDS_OF_PIECE:
        return _PIECE.findall(collapsed)
    return [collapsed] if words else []


def says_something(text: str) -> bool:
    """Whether anything of *text* can be seen; a tick or a cross counts, although it is no letter."""
    return _SAYING.search(text) is not None
