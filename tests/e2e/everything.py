"""A spider for any site: follows every link on the given hosts, for ``scrapy runspider``."""

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from parsel import Selector
from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.linkextractors import LinkExtractor

_TEXTS = "//text()[not(ancestor::script or ancestor::style)]"
_LINKS = "//a/@href | //area/@href | //iframe/@src | //frame/@src | //form/@action"
_MEDIA = "//img/@src | //video/@src | //audio/@src | //source/@src | //embed/@src | //object/@data"


class EverythingSpider(Spider):
    name = "everything"

    def __init__(
        self,
        start: str,
        allow: str = "",
        deny: str = "",
        stats: str = "",
        only: str = "",
        taken: str = "",
        ignore: str = "",
        **kwargs: object,
    ) -> None:
        """*only*: a file with the URLs that may be asked for, one on a line.

        *taken*: a file for all that is on each page, but in elements that *ignore* selects.
        """
        super().__init__(**kwargs)
        self.start_url, self.stats_file = start, stats
        self.only = frozenset(Path(only).read_text("utf-8").split("\n")) if only else None
        self._ignore, self._taken_file = ignore, taken
        self._taken: list[str] = []
        host = urlsplit(start).netloc.removeprefix("www.")
        # A page may link thousands of its own lines.
        self.links = LinkExtractor(
            allow=allow or (),
            deny=deny or (),
            allow_domains=[host],
            canonicalize=False,
            unique=True,
            process_value=lambda link: link.partition("#")[0] or None,
        )

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.start_url)

    def parse(self, response: Response) -> Iterator[Request]:
        if self._taken_file:
            self._taken.append(json.dumps({"url": response.url, **all_of(response, self._ignore)}))
        if isinstance(response, HtmlResponse):
            for link in self.links.extract_links(response):
                request = Request(link.url)
                if self.only is None or request.url in self.only:
                    yield request

    def closed(self, reason: str) -> None:
        if self._taken_file:
            Path(self._taken_file).write_text("\n".join(self._taken), "utf-8")
        stats = self.crawler.stats.get_stats()
        numbers = {key: value for key, value in stats.items() if isinstance(value, (int, float, str))}
        if self.stats_file:
            Path(self.stats_file).write_text(json.dumps({**numbers, "reason": reason}))


def all_of(response: Response, ignore: str) -> dict[str, list[str]]:
    """What a spider may take from a page: texts, whole rows of tables, links and pictures."""
    if not isinstance(response, HtmlResponse):
        lines = response.text.splitlines() if isinstance(response, TextResponse) else [response.body.hex()]
        return {"texts": _said(lines)}
    page = Selector(text=response.text)
    for element in page.css(ignore) if ignore else ():
        element.drop()
    base = response.urljoin(page.xpath("//base/@href").get(""))
    return {
        "texts": _said(page.xpath(_TEXTS).getall()),
        "rows": _said(row.xpath("string()").get("") for row in page.xpath("//tr")),
        "links": _urls(page, _LINKS, base),
        "media": _urls(page, _MEDIA, base),
    }


def _said(texts: Iterable[str]) -> list[str]:
    return sorted({" ".join(text.split()) for text in texts} - {""})


def _urls(page: Selector, where: str, base: str) -> list[str]:
    found = (urljoin(base, one.strip()).partition("#")[0] for one in page.xpath(where).getall())
    return sorted({url for url in found if url.startswith("http")})
