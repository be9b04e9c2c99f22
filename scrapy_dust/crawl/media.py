"""Gives media pipelines the fingerprints that requests have without rules.

Media pipelines download each file once per fingerprint. If a rule for pages also merged the URLs of two files, the
second item would get the first item's file. A media request looks like any other to the fingerprinter, so the
pipelines themselves get the project's own fingerprinter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.pipelines.media import MediaPipeline

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol


def spare_media(crawler: Crawler, ours: object, underneath: RequestFingerprinterProtocol) -> None:
    """Give the media pipelines of *crawler* the fingerprinter *underneath* in the place of *ours*.

    Call this when the spider is open, before any item.
    """
    engine = crawler.engine
    pipelines = engine.scraper.itemproc.middlewares if engine is not None else ()
    for pipeline in pipelines:
        if isinstance(pipeline, MediaPipeline) and pipeline._fingerprinter is ours:
            pipeline._fingerprinter = underneath
