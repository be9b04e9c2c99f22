"""Looks up the public suffix of a host (such as co.uk), in the list of tldextract, kept as one table.

tldextract keeps them as a tree of 17,000 objects with a dict each. Python's garbage collector goes through all of
these again and again: a fifth of its work in a crawl. Here the tree is made, turned into a list, and dropped. Hosts
of plain spelling are looked up in the list; tldextract is asked about others.
"""

from __future__ import annotations

import re
from functools import cache

import tldextract

# Labels of these alone, none of them empty or punycode.
_PLAIN = re.compile(r"(?!.*(?:^|\.)xn--)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*", re.ASCII)
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_ADDRESS = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}", re.ASCII)


def registrable(host: str) -> tuple[str, str] | None:
    """The label before the public suffix of *host*, which is in lower case, and the suffix: ``("shop", "co.uk")`` for
    www.shop.co.uk.

    The label is empty if there is none; the suffix, if the list has none. None if *host* is an IP address.
    """
    if _ADDRESS.fullmatch(host):
        return None
    if _PLAIN.fullmatch(host) is None:
        found = _extractor()(host)
        return None if found.ipv4 or found.ipv6 else (found.domain, found.suffix)
    labels = host.split(".")
    first = _suffix_index(labels)
    return labels[first - 1] if first else "", ".".join(labels[first:])


def _suffix_index(labels: list[str]) -> int:
    """The index in *labels* of the first label of the public suffix; the number of labels where there is none."""
    table = _suffix_table()
    first, above = len(labels), ""
    for place in range(len(labels) - 1, -1, -1):
        path = f"{labels[place]}.{above}" if above else labels[place]
        is_suffix = table.get(path)
        if is_suffix is None:
            if f"*.{above}" in table:
                return place + 1 if f"!{path}" in table else place
            return first
        if is_suffix:
            first = place
        above = path
    return first


@cache
def _suffix_table() -> dict[str, bool]:
    """Each ending of a public suffix, with the answer whether that ending is a public suffix itself."""
    suffixes = set(_extractor().tlds)
    _extractor.cache_clear()
    table = dict.fromkeys(suffixes, True)
    for suffix in suffixes:
        while suffix := suffix.partition(".")[2]:
            table.setdefault(suffix, False)
    return table


@cache
def _extractor() -> tldextract.TLDExtract:
    """Make tldextract with the list in its package; nothing is fetched."""
    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
