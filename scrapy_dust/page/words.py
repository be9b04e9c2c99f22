"""Splits text into words. A word stands between white space; in scripts without white space each character is a word.

Words are UTF-8 bytes, the form in which they are hashed and compared.
"""

from __future__ import annotations

import re
from itertools import islice

#: More words than any page that people read has; what comes after them is not sketched.
MAX_WORDS = 200_000

# Blocks of scripts written without spaces between words. As one "word", a paragraph of them would be
# one feature of the page, and a changed letter would change all of it.
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u2e80-\u2fdf"  # radicals
    "\u3001-\u312f"  # CJK punctuation, Hiragana, Katakana, Bopomofo
    "\u3190-\u4dbf"  # Kanbun, strokes, Katakana extensions, enclosed letters, ideographs A
    "\u4e00-\u9fff"  # ideographs
    "\uf900-\ufaff"  # compatibility ideographs
    "\uff66-\uff9f"  # halfwidth Katakana
    "\U0001b000-\U0001b16f"  # Kana supplements
    "\U00020000-\U0003ffff"  # ideographs B and further
)
_ANY_UNSPACED = re.compile(f"[{_UNSPACED}]")
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_BLOCKS = zip(map(ord, _UNSPACED[::3]), map(ord, _UNSPACED[2::3]), strict=True)
#: Upper bytes, in UTF-16, of characters that are none of them. What takes two of its units begins with one of eight.
_FAR = bytes(
    {*range(0xD8), *range(0xE0, 0x100)}
    - {upper for first, last in _BLOCKS if first < 0x10000 for upper in range(first >> 8, (last >> 8) + 1)}
)
# White space of strings that is none of bytes.
_SPACED = bytes.maketrans(b"\x1c\x1d\x1e\x1f", b"    ")


def split_words(text: str) -> tuple[list[bytes], bool]:
    """The first `MAX_WORDS` words of *text*, and whether that is all of them."""
    if text.isascii():
        words = text.encode("ascii").translate(_SPACED).split(None, MAX_WORDS)
    elif not has_unspaced(text):
        words = _encoded(text.split(None, MAX_WORDS))
    else:
        words = _encoded([match.group() for match in islice(_WORD.finditer(text), MAX_WORDS + 1)])
    return words[:MAX_WORDS], len(words) <= MAX_WORDS


def _encoded(words: list[str]) -> list[bytes]:
    """*words* as UTF-8, all in one call, which is faster. No word may contain a space."""
    return " ".join(words).encode("utf-8", "surrogatepass").split(b" ") if words else []


def has_unspaced(text: str) -> bool:
    """Whether *text* has characters of a script that writes no white space."""
    upper_bytes = text.encode("utf-16-le", "surrogatepass")[1::2]
    return bool(upper_bytes.translate(None, _FAR)) and _ANY_UNSPACED.search(text) is not None
