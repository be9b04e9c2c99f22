"""`DustOutcomeMiddleware`: tells what became of a request where no signal does.

As the outermost downloader middleware it sees the exceptions that no other one dealt with; as the innermost
spider middleware, the answers that no other one refused. It changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_dust.crawl.succession import Succession


class DustOutcomeMiddleware:
    """For ``DOWNLOADER_MIDDLEWARES`` at 1 and ``SPIDER_MIDDLEWARES`` at 950."""

    def __init__(self) -> None:
        self.succession: Succession | None = None  #: where rules are in force, from when the spider is open

    def process_exception(self, request: Request, exception: Exception) -> None:
        if self.succession is not None:
            self.succession.failed(request)

    def process_spider_input(self, response: Response) -> None:
        if self.succession is not None:
            self.succession.delivered(response)
