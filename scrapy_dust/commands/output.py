"""Stdout of a command, which may be closed, full, or know no Unicode."""

from __future__ import annotations

import io
import os
import sys


def accept_any_text() -> None:
    """What a site wrote into a URL must not be too much for a terminal that knows no Unicode."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def printable(text: str) -> str:
    """*text* without what would command a terminal: rules are made of what sites wrote."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def may_colour() -> bool:
    """Only a terminal is coloured, and none whose owner does not want it (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def as_it_is(text: str) -> str:
    """*text* for the next program in a pipe; for a person, `printable`."""
    return printable(text) if sys.stdout.isatty() else text


def give_up(command: str, error: OSError) -> None:
    """Files are read and written with errors of their own: this one is stdout's.

    Who closed it has seen enough. Python must not try to write the rest when it exits.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        print(f"scrapy {command}: the output cannot be written ({error.strerror}).", file=sys.stderr)
