"""The value at a place as 32 bits: a hash of the text, and a hash of its shape.

The upper bits hash the shape, in which each word with a digit is the same, so that a clock or a counter can be told
from other changes; the lower bits hash the text itself. `units` keeps fewer bits of both. A long text is cut into
pieces, so that a changed word spoils one piece. The words decide where to cut, so that an inserted word does not move
later cuts.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from functools import lru_cache
from urllib.parse import unquote

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
#: A word with a digit, in text whose white space is collapsed.
_NUMBERED = re.compile("(?<![^ ])[^ 0-9]*+[0-9][^ ]*+")
#: Signs of currencies, which belong to the shape of a word with a digit. Letters do not: the word may be a token.
_SIGNS = re.compile("[$¢£¤¥₠-⃏]")
# From where a word begins: else each letter of a long word would be a begin.
_NUMBER = re.compile(r"(?<![^\W_])[^\W_0-9]*+[0-9][^\W_]*+")

#: The first characters of JSON in percent encoding, and in base64.
_QUOTED = frozenset({"%7B", "%7b", "%5B", "%5b"})
#: A quote as templates write JSON into scripts.
_ESCAPED_QUOTE = "\\u0022"
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_IN_BASE64 = frozenset({"eyJ", "eyA", "ewo", "ew0", "WyJ", "W3s", "Wwo"})

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
    """A hash of 32 bits for one piece of text. In texts with digits the upper ten are of the shape: the text with all
    numbers alike.
    """
    exact = hash_of(text)
    if not _DIGIT.search(text):
        return exact & 0xFFFFFFFF
    return hash_of(_around(" ".join(text.split()))) & _SHAPE | exact & _EXACT


def values_of(text: str) -> tuple[int, ...]:
    """A hash of 32 bits for each piece of *text*, and for each of several words with digits in a piece, so that a price
    still counts beside a clock; none if *text* is white space.
    """
    pieces = pieces_of(text)
    if not _DIGIT.search(text):
        return tuple([exact & 0xFFFFFFFF for exact in hashes_of(pieces)])
    values: list[int] = []
    for piece in pieces:
        numbers = _NUMBERED.findall(piece)
        if numbers:
            several = numbers if len(numbers) > 1 else []
            shapes = _shapes_around(_around(piece), len(several))
            exact = hashes_of([piece, *several])
            values += [shape | one & _EXACT for shape, one in zip(shapes, exact, strict=True)]
        else:
            values.append(hash_of(piece) & 0xFFFFFFFF)
    return tuple(values)


def values_of_field(said: str, named: str = "") -> tuple[int, ...]:
    """A hash of 32 bits for the value *said* with *named* before it, and for each number in *said* if it has several, by
    the number's position, whatever stands between: ``buy(7, 'f3a1')``.
    """
    said = unwrapped(said)
    value = value_of(named + said)
    numbers = _NUMBER.findall(said) if _DIGIT.search(said) else ()
    if not 2 <= len(numbers) <= MAX_WORDS_OF_PIECE:
        return (value,)
    shapes = _shapes_around(_NUMBER.sub("#", said), len(numbers))[1:]
    return value, *[shape | exact & _EXACT for shape, exact in zip(shapes, hashes_of(numbers), strict=True)]


def unwrapped(said: str) -> str:
    """The JSON that *said* holds in percent encoding, in base64 or with escaped quotes; *said* itself if it holds none."""
    begin = said[:3]
    if _ESCAPED_QUOTE in said:
        return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), said)
    if begin in _QUOTED:
        return unquote(said)
    if begin not in _IN_BASE64:
        return said
    try:
        found = b64decode(said + "=" * (-len(said) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return said
    return found if found.startswith(("{", "[")) else said


def hash_of(text: str) -> int:
    """The 64 bits of XXH3 of *text* in UTF-8."""
    try:
        return xxh3_64_intdigest(text.encode())
    except UnicodeEncodeError:  # half of a character
        return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def hashes_of(texts: list[str]) -> list[int]:
    """The result of `hash_of` for each of *texts*."""
    try:
        return list(map(xxh3_64_intdigest, map(str.encode, texts)))
    except UnicodeEncodeError:
        return list(map(hash_of, texts))


@lru_cache(maxsize=2000)
def _shapes_around(around: str, count: int) -> list[int]:
    """The shape of *around*, a text with ``#`` for its words with digits, and of each of its *count* places."""
    return [exact & _SHAPE for exact in hashes_of([around, *[f"{around} {at}" for at in range(count)]])]


def _around(collapsed: str) -> str:
    """A text, its white space collapsed, with ``#`` in the place of each word with a digit."""
    if _SIGNS.search(collapsed):
        return _NUMBERED.sub(_signs_of, collapsed)
    return _NUMBERED.sub("#", collapsed)


def _signs_of(word: re.Match[str]) -> str:
    """The signs in *word*, a word with a digit, and ``#``."""
    return "".join(_SIGNS.findall(word[0])) + "#"


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
    return bool(text) and not text.isspace()
