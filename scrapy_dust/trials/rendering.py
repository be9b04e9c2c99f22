"""Renders pages for validation by the same browser plugin as the crawl did.

Neither scrapy-playwright nor scrapy-splash is imported: a request's meta selects them. No log tells when a page is
ready; the project says it in ``DUST_RENDER_META``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from scrapy_dust.sites import site_of

_SPLASH: dict[str, Any] = {"endpoint": "render.html"}


def rendering_meta(renderer: str | None, url: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """The meta by which *renderer* renders *url*, with *more* of the project's; empty if no browser is wanted."""
    if renderer == "playwright":
        return {**more, "playwright": True}
    if renderer == "splash":
        of_splash = more.get("splash", {})
        splash = {**_SPLASH, **of_splash, "args": {**of_splash.get("args", {}), "url": url}}
        return {**more, "splash": splash}
    return {}


class _BrowserRequest(Protocol):
    """A request of Playwright's."""

    url: str
    method: str

    def is_navigation_request(self) -> bool: ...


def stays_within(
    sites: Iterable[str], before: Callable[[Any], bool] | None = None
) -> Callable[[_BrowserRequest], bool]:
    """A function for ``PLAYWRIGHT_ABORT_REQUEST``, with which a browser only reads, and visits only pages of *sites*.
    *before*: the project's own such function.
    """
    known = frozenset(sites)

    def abort(request: _BrowserRequest) -> bool:
        """Whether the browser must not send *request*."""
        if request.method not in ("GET", "HEAD", "OPTIONS"):
            return True
        if request.is_navigation_request() and site_of(request.url) not in known:
            return True
        return before is not None and before(request)

    return abort
