"""The tokens of a URL: runs of ASCII letters and digits, and any other single character (WWW'07, section 3)."""

from __future__ import annotations

import re

TOKEN = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]", re.DOTALL)


def tokenize(url: str) -> list[str]:
    """The tokens of *url*, without anchors; ``"".join`` gives *url* back."""
    return TOKEN.findall(url)


def is_token_boundary(left: str, right: str) -> bool:
    """Whether a token can end after the character *left* and another begin with *right*.

    Either may be empty: the end of the URL.
    """
    return not (left.isalnum() and right.isalnum() and left.isascii() and right.isascii())
