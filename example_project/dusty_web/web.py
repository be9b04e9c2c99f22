"""The web as a function: URL, seed and the number of the fetch → response. It knows no sockets and keeps nothing."""

from __future__ import annotations

from dataclasses import dataclass

from dusty_web import SEED, render
from dusty_web.site import Acts, Answer, Apologizes, Asked, Fails, Redirects, Shows, Site
from dusty_web.sites import SITES

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    body: bytes = b""
    content_type: str = HTML
    location: str = ""
    content: str = ""  #: id of the content that was delivered; empty where it is none


class DustyWeb:
    """The four sites for one seed."""

    def __init__(self, seed: int = SEED) -> None:
        self.seed = seed
        self.sites = tuple(site(seed) for site in SITES)
        self._by_host = {host: site for site in self.sites for host in site.hosts}

    def site_at(self, host: str) -> Site | None:
        return self._by_host.get(host.lower())

    def linked(self) -> tuple[str, ...]:
        """Every URL that is linked somewhere, each once."""
        return tuple(url for site in self.sites for url in site.linked())

    def contents(self) -> frozenset[str]:
        """The ids of all different contents; a copy is the content that it is a copy of."""
        return frozenset(
            content.copy_of or content.id for site in self.sites for content in site.contents.values()
        )

    def is_disallowed(self, url: str) -> bool:
        """Whether robots.txt excludes *url*."""
        asked = Asked.of(url)
        site = self.site_at(asked.host)
        return site is not None and asked.path.startswith(site.disallowed)

    def answer(self, url: str) -> Answer:
        """What *url* leads to, first failures aside."""
        asked = Asked.of(url)
        site = self.site_at(asked.host)
        if site is None:
            return Fails(502)
        return Fails(403) if asked.path.startswith(site.disallowed) else site.answer(asked)

    def respond(self, url: str, *, nth: int = 0, ever: int = 0) -> Response:
        """The response to *url* when it was asked for *nth* times since a reset, and *ever* times in all."""
        asked = Asked.of(url)
        site = self.site_at(asked.host)
        if site is None:
            return Response(502, b"Only the example's sites can be reached here.\n", "text/plain")
        if asked.path == "/robots.txt":
            return Response(200, f"User-agent: *\nDisallow: {site.disallowed}\n".encode(), "text/plain")
        answer = self.answer(url)
        match answer:
            case Shows(fails_first=True) if nth == 0:
                return _failure(site, 503)
            case Shows():
                content = site.contents[answer.id]
                body = render.page(site, answer, render.Fetch(url, ever))
                return Response(200, body, content=content.copy_of or content.id)
            case Redirects():
                return Response(answer.status, location=answer.to)
            case Apologizes():
                words = "Sorry, the page that you asked for is not here any more, or never was."
                return Response(200, render.notice(site, "Not found", words))
            case Acts():
                return Response(200, render.notice(site, "Done", "As you wished."))
            case Fails():
                return _failure(site, answer.status)


def _failure(site: Site, status: int) -> Response:
    return Response(status, render.notice(site, f"Error {status}", "This did not work."))
