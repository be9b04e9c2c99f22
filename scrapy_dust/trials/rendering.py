"""Pages that a browser rendered for the crawl are rendered for validation too, by the same plugin.

Neither scrapy-playwright nor scrapy-splash is imported: both are asked by a request's meta. What a page needs to
be ready no log tells; the project says it in ``DUST_RENDER_META``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from scrapy_dust.sites import site_of

_SPLASH: dict[str, Any] = {"endpoint": "render.html"}


def rendering_meta(renderer: str | None, url: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """What asks *renderer* for *url*, with *more* of the project's; nothing where no browser is meant."""
    if renderer == "playwright":
        return {**more, "playwright": True}
    if renderer == "splash":
        of_splash = more.get("splash", {})
        splash = {**_SPLASH, **of_splash, "args": {**of_splash.get("args", {}), "url": url}}
        return {**more, "splash": splash}
    return {}


class _BrowserRequest(Protocol):
    """Playwright's."""

    url: str
    method: str

    def is_navigation_request(self) -> bool: ...


def stays_within(
    sites: Iterable[str], before: Callable[[Any], bool] | None = None
) -> Callable[[_BrowserRequest], bool]:
    """For ``PLAYWRIGHT_ABORT_REQUEST``: nothing but GET, and no page of another site. *before*: the project's own."""
    known = frozenset(sites)

    def abort(request: _BrowserRequest) -> bool:
        if request.method not in ("GET", "HEAD", "OPTIONS"):
            return True
        if request.is_navigation_request() and site_of(request.url) not in known:
            return True
        return before is not None and before(request)

    return abort
