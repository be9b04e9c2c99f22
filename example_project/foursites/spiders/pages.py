from collections.abc import Iterator

from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from foursites.items import PageItem


class PagesSpider(CrawlSpider):
    """Every page of the four sites, by following every link."""

    name = "pages"
    allowed_domains = ["forum.test", "academic.test", "bignews.test", "smallnews.test"]
    start_urls = [f"http://www.{domain}/" for domain in allowed_domains]
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def parse_start_url(self, response: Response, **kwargs: object) -> Iterator[PageItem]:
        return self.parse_page(response)

    def parse_page(self, response: Response) -> Iterator[PageItem]:
        if isinstance(response, HtmlResponse):
            yield PageItem(url=response.url, title=response.css("title::text").get())
