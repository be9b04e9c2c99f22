"""Media pipelines are given the fingerprints that they had without us.

They download each file once by fingerprint. Two files whose URLs a rule of pages happens to speak of would be
one, and the second item would get the first one's file. Their requests look like any other when they ask, so the
pipelines themselves are given the fingerprinter underneath ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.pipelines.media import MediaPipeline

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol


def spare_media(crawler: Crawler, ours: object, underneath: RequestFingerprinterProtocol) -> None:
    """To be called when the spider is open, which is before any item."""
    engine = crawler.engine
    pipelines = engine.scraper.itemproc.middlewares if engine is not None else ()
    for pipeline in pipelines:
        if isinstance(pipeline, MediaPipeline) and pipeline._fingerprinter is ours:
            pipeline._fingerprinter = underneath
