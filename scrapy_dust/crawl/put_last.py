"""Forms of URLs that are fetched last, in words for people: a form, its requests that wait, and the reason."""

from __future__ import annotations

from typing import NamedTuple

from scrapy_dust.traps.budget import Account
from scrapy_dust.traps.forms import AGAIN


class PutLast(NamedTuple):
    """A form of URLs that brings nothing new, and the number of its requests that wait."""

    id: str
    form: str  #: in words
    waiting: int
    why: str  #: a sentence


def why_last(account: Account | None) -> str:
    """A sentence that says why requests of the form with this *account* come last."""
    if account is None:
        return "An earlier crawl of this job has put them last."
    if account.form.is_again:
        return "They repeat other URLs but for parameters that do not matter."
    if account.is_facet:
        return "They select from a list whose things are known."
    if account.feeds_itself:
        return "They are linked from pages like themselves, and more come than are fetched."
    if account.read:
        return f"{account.read:,} of its pages brought nothing new."
    return "Only pages that brought nothing new link to them."


def in_words(form: str) -> str:
    """*form* in words: a URL with 0 for any number, and a remark if its URLs repeat other URLs."""
    url = form.replace(AGAIN, "")
    return url if url == form else f"{url}, repeating other URLs but for parameters that do not matter"
