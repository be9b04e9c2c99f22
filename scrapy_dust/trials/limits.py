"""The limits of validation: no URL is fetched that a rule or a redirect makes up and that could do harm.

The crawl itself has fetched the URLs of the log, so these may be fetched again. Any other URL must be of the site,
keep the scheme and the port, and not look like an action.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from urllib.parse import urlsplit

from scrapy_dust.crawl_log.hiding import is_hidden
from scrapy_dust.sites import site_of
from scrapy_dust.trials.actions import ActionWords

#: A site that has one of them may redirect to the other.
_USUAL = frozenset({80, 443})


class Limits:
    """The limits of one site. *urls*: the pages of its log, read only when a URL is checked."""

    def __init__(self, site: str, urls: Collection[str], never_probe: Iterable[str] = ()) -> None:
        self.site = site
        self.actions = ActionWords(never_probe)
        self._of_log = urls

    @cached_property
    def _urls(self) -> frozenset[str]:
        return frozenset(self._of_log)

    @cached_property
    def netlocs(self) -> frozenset[tuple[str, str, int]]:
        """The schemes, hosts and ports of the log."""
        return frozenset(map(netloc_of, self._urls))

    @cached_property
    def _ports(self) -> frozenset[int]:
        """The ports at which the site may be fetched: those of the log, and both usual ones if the log has one."""
        ports = frozenset(netloc[2] for netloc in self.netlocs)
        return ports | _USUAL if ports & _USUAL else ports

    def has(self, url: str) -> bool:
        """Whether the crawl has fetched *url*."""
        return url in self._urls

    def may_compare(self, url: str, target: str) -> bool:
        """Whether both URLs may be fetched. The crawl had *url*; a rule makes *target* of it.

        A URL in which the log hides a value must not be fetched: the site does not know it, and would answer with an
        error.
        """
        if is_hidden(url) or is_hidden(target):
            return False
        return self.has(target) or self._may_make_up(target, urlsplit(url).scheme)

    def may_follow(self, url: str) -> bool:
        """Whether a redirect to *url* may be followed."""
        return self.has(url) or self._may_make_up(url, None)

    def _may_make_up(self, url: str, scheme: str | None) -> bool:
        """Whether *url*, which the log does not have, may be fetched. *scheme*: the one that it must keep; None: any."""
        try:
            scheme_of_url, _, port = netloc_of(url)
        except ValueError:
            return False
        if site_of(url) != self.site or (scheme is not None and scheme_of_url != scheme):
            return False
        return port in self._ports and url not in self.actions


def netloc_of(url: str) -> tuple[str, str, int]:
    """The scheme, host and port of *url*. Raises `ValueError` if it has none."""
    parts = urlsplit(url)
    return (
        parts.scheme,
        (parts.hostname or "").rstrip("."),
        parts.port or (443 if parts.scheme == "https" else 80),
    )
