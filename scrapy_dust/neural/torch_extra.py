"""Tells whether the extra ``scrapy-dust[neural]``, which brings PyTorch, is installed, and has the sentence for users
without it.
"""

from __future__ import annotations

from importlib.util import find_spec

from scrapy_dust.errors import DustError


class NoNetwork(DustError):
    """PyTorch is missing."""

    def __str__(self) -> str:
        return "A network needs PyTorch, which is not installed. Run `pip install scrapy-dust[neural]`."


def is_installed() -> bool:
    """Whether PyTorch is installed."""
    return find_spec("torch") is not None


def require_torch() -> None:
    """Raise `NoNetwork`, with one sentence for the user, where PyTorch is missing."""
    if not is_installed():
        raise NoNetwork
