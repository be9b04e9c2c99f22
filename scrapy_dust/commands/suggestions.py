"""Suggestions for names that do not exist: the sentence with the name that was probably meant.

Only the standard library is imported here: every ``scrapy`` command imports this module.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Collection, Sequence
from typing import Any

#: More names than these are not listed, only the nearest.
_LISTED = 40


def no_such(kind: str, name: str, known: Collection[str]) -> str:
    """A sentence that says that *name* is no *kind*, with the nearest of the *known* names."""
    return f"there is no {kind} {name!r}. {remedy(name, known)}".rstrip()


def remedy(name: str, known: Collection[str]) -> str:
    """A sentence with the nearest of the *known* names, or with all of them where they are few; empty if neither helps."""
    return nearest(name, known) or (f"Use one of {', '.join(known)}." if 0 < len(known) <= _LISTED else "")


def nearest(name: str, known: Collection[str]) -> str:
    """A sentence with the nearest of the *known* names; empty where none is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else ""


def one_of(kind: str, known: Sequence[str]) -> dict[str, Any]:
    """The arguments of `argparse`'s ``add_argument`` for a choice, with a suggestion for a wrong name."""
    return {"choices": known, "type": _checker(kind, known), "metavar": f"{{{','.join(known)}}}"}


def _checker(kind: str, known: Sequence[str]) -> Callable[[str], str]:
    """The function by which `argparse` checks an option: it takes a name that is *known*."""

    def check(name: str) -> str:
        """*name*, if it is known. Raises the error that `argparse` prints, with a suggestion."""
        if name not in known:
            raise argparse.ArgumentTypeError(no_such(kind, name, known))
        return name

    return check


def unrecognized(args: Sequence[str], parser: argparse.ArgumentParser) -> str | None:
    """The sentence for options among *args* that Scrapy's *parser* did not know; None where all are known."""
    unknown = [arg for arg in args if arg.startswith("-") and arg != "-"]
    if not unknown:
        return None
    known = [name for action in parser._actions for name in action.option_strings if name.startswith("--")]
    said = f"unrecognized arguments: {' '.join(unknown)}."
    near = difflib.get_close_matches(unknown[0].partition("=")[0], known, n=1)
    return f"{said} Did you mean {near[0]}?" if near else f"{said} --help lists them all."
