"""Made-up text: the same for the same number, and not alike for different ones."""

from __future__ import annotations

import random

_CHANCE = random.Random(7)
WORDS = ["".join(_CHANCE.choices("abcdefghijklmnopqrstuvwxyz", k=3 + n % 7)) for n in range(3000)]


def prose(number: int, words: int = 120) -> str:
    return " ".join(random.Random(number).choices(WORDS, k=words))


def document(
    number: int,
    *links: str,
    words: int = 120,
    title: str | None = None,
    frame: str = "",
    more: str = "",
    body: str | None = None,
) -> bytes:
    """A page about *number*; *frame* is what all pages of its site have, *more* what only this one has."""
    anchors = "".join(f'<a href="{link}">x</a>' for link in links)
    said = prose(number, words) if body is None else body
    head = f"Page {number}" if title is None else title
    return (
        f"<html><head><title>{head}</title></head><body><div>{frame}</div><p>{said}</p>{more}{anchors}</body></html>"
    ).encode()
