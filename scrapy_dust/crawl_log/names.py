"""What a log of ours is called: ``<UTC time>-<process>-<random>`` and the suffix of what it is written as.

The part before the suffix is the crawl's, and stays when its log is compacted.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime

_OWN = re.compile(r"(\d{8}T\d{6}\.\d{6}Z-\d+-[0-9a-f]{8})(\.jsonl|\.jsonl\.gz|\.parquet)")


def new_name(began: datetime) -> str:
    """Of the log of a crawl that begins now; names sort as the crawls began, whatever machine they ran on."""
    return f"{began.astimezone(UTC):%Y%m%dT%H%M%S.%fZ}-{os.getpid()}-{os.urandom(4).hex()}.jsonl"


def is_own(name: str) -> bool:
    return _OWN.fullmatch(name) is not None


def stem(name: str) -> str:
    """*name* without the suffix that a log of ours may have, and change; another's name stays as it is."""
    own = _OWN.fullmatch(name)
    return name if own is None else own[1]


def log_name(name: str) -> str:
    """What a log is called where it is remembered: the same before it is compacted and after."""
    return stem(name) + ".jsonl" if is_own(name) else name


def began(name: str) -> datetime:
    """When the crawl of a log of ours began."""
    return datetime.strptime(name.partition("Z")[0], "%Y%m%dT%H%M%S.%f").replace(tzinfo=UTC)


def rank(name: str) -> int:
    """Of several files of one crawl the one with the least is to be read: the others may be incomplete."""
    own = _OWN.fullmatch(name)
    return 0 if own is None else (".jsonl", ".parquet", ".jsonl.gz").index(own[2])
