"""The smallest pieces of a page of the report, as HTML: bars, tables, lists of facts, and numbers in words.

No piece needs a log or a rule book, so that a crawl which shows itself loads little.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

from scrapy_dust.rules.grouping import Kind

#: The headings under which rules are shown in words.
HEADINGS = {
    Kind.PARAMETERS: "Parameters that do not matter",
    Kind.VALUES: "Parameters whose value does not matter",
    Kind.PARTS: "Parts of a URL that are left out",
    Kind.OTHERS: "Spellings that are taken for one",
}


def asset(name: str) -> str:
    """The text of the file *name* beside this module: a template, a style or a script."""
    return files("scrapy_dust.report").joinpath(name).read_text("utf-8")


def policy(style: str, script: str, more: str = "") -> str:
    """A Content-Security-Policy that lets nothing but *style* and *script* have an effect. *more*: further directives."""

    def hashed(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; script-src {hashed(script)}; style-src {hashed(style)};"
        f" base-uri 'none'; form-action 'none'{more}"
    )


def bar(part: int, whole: int) -> str:
    """A bar as wide as *part* is of *whole*, without any text."""
    width = 100 * part / whole if whole else 0.0
    return (
        '<svg class="line" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bar" x="0" y="0" width="{width:.1f}" height="10"></rect></svg>'
    )


def before_and_after(before: int, after: int) -> str:
    """Two bars: the requests without rules, and the requests with rules."""
    rows = "".join(
        f'<div class="meter {kind}"><span>{name}</span>{bar(count, before)}'
        f'<span class="number">{number(count, "request")}</span></div>'
        for name, kind, count in (("Before", "before", before), ("With rules", "after", after))
    )
    return f'<div class="meters">{rows}</div>'


def facts_listed(facts: Iterable[str]) -> str:
    """A list of *facts*, each a text that is escaped here."""
    return f'<ul class="facts">{"".join(f"<li>{escape(fact)}</li>" for fact in facts)}</ul>'


def table(name: str, heads: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table of cells that are HTML already; columns from *words* on are numbers. Narrow screens show each row as a list."""

    def number_class(column: int) -> str:
        """The attribute by which a cell in this *column* looks like a number, if it is one."""
        return ' class="number"' if column >= words else ""

    head = "".join(
        f'<th scope="col"{number_class(column)}>{title}</th>' for column, title in enumerate(heads)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td{number_class(column)} data-label="{heads[column]}">{cell}</td>'
            for column, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f'<table aria-label="{name}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def number(count: int, noun: str, plural: str | None = None) -> str:
    """*count* with its noun, such as "1 rule" or "2,000 rules"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def percent(part: int, whole: int) -> str:
    """*part* of *whole* in percent."""
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def size_in_words(size: int) -> str:
    """*size* in bytes, kilobytes, megabytes or gigabytes, whichever suits."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def duration_in_words(seconds: int) -> str:
    """*seconds* in seconds, minutes or hours, whichever suits."""
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
