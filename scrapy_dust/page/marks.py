"""Marks of pages that stand in front of others: a form that asks for a password, a captcha, an empty page.

A mark is a hint and no more: every page of a shop may have a form to log in. Whoever judges pages compares
what a page has with what the other pages of its site have. Reading is linear in the body, whatever it holds.
"""

from __future__ import annotations

import re
from enum import StrEnum

#: Of a body; what stands in front of a page is short.
_READ = 512 * 1024


class Mark(StrEnum):
    """What a page has that may mean it is not the page that was asked for."""

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
    """The marks of a document of so many *words*; none where it is no HTML."""
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
