"""The crawl log: writing ours, reading ours and what others write in the same fields."""

from scrapy_dust.crawl_log.places import log_dir, new_log_path, spider_log_dir
from scrapy_dust.crawl_log.reader import Reading, read_visits, visits_by_site
from scrapy_dust.crawl_log.records import record_of_failure, record_of_page, record_of_redirect
from scrapy_dust.crawl_log.writer import CrawlLogWriter

__all__ = [
    "CrawlLogWriter",
    "Reading",
    "log_dir",
    "new_log_path",
    "read_visits",
    "record_of_failure",
    "record_of_page",
    "record_of_redirect",
    "spider_log_dir",
    "visits_by_site",
]
