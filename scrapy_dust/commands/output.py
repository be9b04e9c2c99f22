"""Writes to the stdout of a command, which may be closed, full, or unable to show Unicode."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence

from scrapy_dust.rule_book import Entry
from scrapy_dust.rule_book.document import entry_json


def accept_any_text() -> None:
    """Have stdout replace characters that the terminal cannot show, instead of ending the command with an error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def printable(text: str) -> str:
    """*text* without control characters that a site could send to a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def may_colour() -> bool:
    """Whether stdout is a terminal whose owner has not refused colours (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def unchanged_in_pipes(text: str) -> str:
    """*text* without changes if stdout is a pipe; through `printable` if stdout is a terminal."""
    return printable(text) if sys.stdout.isatty() else text


def stop_output(command: str, error: OSError) -> None:
    """Print that stdout failed, or the file that *error* names, and write no more to stdout.

    A pipe that was closed, as by ``head``, is no failure: its reader has seen enough. Python must not try to write the
    rest when it exits.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.filename is not None:
        what = f"{printable(str(error.filename))}: {error.strerror}. Check the path and its permissions."
        print(f"scrapy {command}: {what}", file=sys.stderr)
    elif not isinstance(error, BrokenPipeError):
        print(f"scrapy {command}: the output cannot be written ({error.strerror}).", file=sys.stderr)


def number(count: int, noun: str, nouns: str | None = None) -> str:
    """*count* with its noun in the singular or the plural, such as "1 rule" or "4 rules"."""
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"


def entry_with_site(site: str, entry: Entry) -> dict[str, object]:
    """The JSON object for a rule and its site."""
    return {"site": site, **entry_json(site, entry)}


def print_rules_json(found: Sequence[tuple[str, Entry]]) -> None:
    """Print each rule, given with its site, as a line of JSON."""
    for site, entry in found:
        print(json.dumps(entry_with_site(site, entry)))
