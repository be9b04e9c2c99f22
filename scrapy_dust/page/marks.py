"""Marks of pages that may stand in front of others: a password form, a captcha, an empty page.

A mark is only a hint, since every page of a shop may have a login form. The code that judges pages compares the marks
of a page with those of the site's other pages. The time to find marks is linear in the body.
"""

from __future__ import annotations

import re
from enum import StrEnum

#: Bytes of a body that are searched: pages that stand in front of others are short.
_READ = 512 * 1024


class Mark(StrEnum):
    """A sign that a page may not be the page that was requested."""

    PASSWORD = "password"  # noqa: S105  A form asks for one.
    CAPTCHA = "captcha"
    EMPTY = "empty"  #: a document without a word
    MOVED = "moved"  #: redirects ended at an address that speaks of a login, a consent or a check


#: An element's end is looked for no farther than this.
_INPUT = re.compile(rb"<input\b[^<>]{0,2000}", re.IGNORECASE)
_PASSWORD = re.compile(rb"\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
#: Google's, hCaptcha's, DataDome's and PerimeterX's have the word in their markup; Cloudflare's have these.
_CAPTCHA = re.compile(rb"captcha|cf-turnstile|challenge-platform|cf-challenge|_cf_chl_", re.IGNORECASE)


def marks_of(body: bytes, words: int, *, is_markup: bool) -> frozenset[Mark]:
    """The marks of a document with *words* words; none if the document is no HTML."""
    if not is_markup:
        return frozenset()
    begin = body[:_READ]
    marks = set()
    if any(_PASSWORD.search(element[0]) for element in _INPUT.finditer(begin)):
        marks.add(Mark.PASSWORD)
    if _CAPTCHA.search(begin):
        marks.add(Mark.CAPTCHA)
    if not words:
        marks.add(Mark.EMPTY)
    return frozenset(marks)
