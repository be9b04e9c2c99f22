"""`ContentDedupPipeline`: drops or marks an item that equals an earlier one.

Two items of one spider and one class are compared by all fields but ``url``, or by those in ``DUST_CONTENT_FIELDS``.
An item whose compared fields are all empty equals no other.
"""

from __future__ import annotations

import json
from typing import Any

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.utils.job import job_dir
from scrapy.utils.python import global_object_name
from xxhash import xxh3_128_digest

from scrapy_dust.crawl.answer_records import DUPLICATE_OF
from scrapy_dust.crawl.components import Component
from scrapy_dust.crawl.faults import Faults
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.errors import DustError
from scrapy_dust.signatures.copies import Kind
from scrapy_dust.signatures.store_opening import AnyStore, open_for_crawl, open_store
from scrapy_dust.stats import Stat

#: In a JOBDIR: the items that a paused crawl has had.
JOB_FILE = "dust-items.sqlite"
_MARK = "#dust-item-"
_FAILED = "Could not compare or mark an item"


class ContentDedupPipeline(Component):
    """Item pipeline that drops or marks copies of items. Goes into ``ITEM_PIPELINES``, before pipelines that store items."""

    def __init__(self, crawler: Crawler) -> None:
        self._settings = settings = rules_of(crawler).settings
        if not settings.enabled:
            raise NotConfigured
        super().__init__(crawler)
        # What came in this crawl is a copy whatever its URL; what an earlier one had is none of itself.
        self._here: AnyStore = open_for_crawl(job_dir(crawler.settings), JOB_FILE)
        self._before: AnyStore | None = None
        if settings.content_store is not None:
            self._before = open_store(settings)
        self._stores = [self._here] if self._before is None else [self._here, self._before]
        self._faults = Faults(crawler, Stat.CONTENT_ERRORS)

    def process_item(self, item: Any) -> Any:
        try:
            keeper = self._keeper(item)
        except Exception as error:  # noqa: BLE001  The item goes on, whatever it or the disk has against it.
            self._faults.note(_FAILED, error)
            return item
        if keeper is None:
            return item
        self._crawler.stats.inc_value(Stat.ITEM_COPIES.value)
        if self._settings.content_dedup != "mark":
            raise DropItem(f"Seen before, from {keeper}")
        try:
            ItemAdapter(item)[DUPLICATE_OF] = keeper
        except KeyError:
            self._faults.note(
                _FAILED, f"{global_object_name(type(item))} has no field {DUPLICATE_OF!r} to be marked in."
            )
        return item

    def close_spider(self) -> None:
        for store in self._stores:
            try:
                store.close()
            except DustError as error:
                self._faults.note(_FAILED, error)

    def _keeper(self, item: Any) -> str | None:
        """The URL of the page where an equal item was first seen; None if *item* is new. Remembers *item*."""
        said = self._signature(item)
        if said is None:
            return None
        url, signature = said
        for store in self._stores:
            known = store.find(signature)
            if known is not None and (store is self._here or _url_of(known.url) != url or url is None):
                return _url_of(known.url) or "an item without a URL"
        for store in self._stores:
            store.keep(f"{url or ''}{_MARK}{signature.hex()}", (signature,), Kind.CONTENT)
        return None

    def _signature(self, item: Any) -> tuple[str | None, bytes] | None:
        """The URL of *item*, and a signature of the fields that are compared; None if these are all empty."""
        values = ItemAdapter(item).asdict()
        names = self._settings.content_fields or [
            name for name in values if name not in ("url", DUPLICATE_OF)
        ]
        chosen = {name: values[name] for name in sorted(names) if values.get(name) not in (None, "", [], {})}
        if not chosen:
            return None
        assert self._crawler.spider is not None
        of_what = [self._crawler.spider.name, global_object_name(type(item))]
        # What JSON has no word for says what it is by its own.
        said = json.dumps([of_what, chosen], sort_keys=True, default=repr)
        url = values.get("url")
        return url if isinstance(url, str) and url else None, xxh3_128_digest(
            said.encode("utf-8", "surrogatepass")
        )


def _url_of(name: str) -> str | None:
    """The URL of the item that a store has under *name*; None if the item has no URL."""
    return name.rpartition(_MARK)[0] or None
