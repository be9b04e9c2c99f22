"""Names of crawl logs: ``<UTC time>-<process>-<random>``, and a suffix for the format.

The part before the suffix is the crawl's, and stays when its log is compacted.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime

_OWN = re.compile(r"(\d{8}T\d{6}\.\d{6}Z-\d+-[0-9a-f]{8})(\.jsonl|\.jsonl\.gz|\.parquet)")


def new_name(began: datetime) -> str:
    """The name of the log of a crawl that *began* then. Names sort as their crawls began, on whatever machine."""
    return f"{began.astimezone(UTC):%Y%m%dT%H%M%S.%fZ}-{os.getpid()}-{os.urandom(4).hex()}.jsonl"


def is_own_name(name: str) -> bool:
    """Whether *name* is one that scrapy-dust gives to a log."""
    return _OWN.fullmatch(name) is not None


def crawl_name(name: str) -> str:
    """*name* without the suffix that compaction may change. Names of other programs' logs stay as they are."""
    own = _OWN.fullmatch(name)
    return name if own is None else own[1]


def log_name(name: str) -> str:
    """The name by which a log is remembered; it is the same before and after compaction."""
    return crawl_name(name) + ".jsonl" if is_own_name(name) else name


def time_in_name(name: str) -> datetime:
    """The time at which the crawl of a log began."""
    return datetime.strptime(name.partition("Z")[0], "%Y%m%dT%H%M%S.%f").replace(tzinfo=UTC)


def rank_in_crawl(name: str) -> int:
    """The rank of a file among the files of one crawl. The lowest one is read; others may be incomplete."""
    own = _OWN.fullmatch(name)
    return 0 if own is None else (".jsonl", ".parquet", ".jsonl.gz").index(own[2])
