"""Looks after the logs of crawls that have ended: moves, compacts and removes them.

Called when a crawl's log is closed and before logs are mined. Logs of crawls that were killed are found the next
time. No failure here stops a crawl or a mining: it is reported, and the work is done the next time.
"""

from __future__ import annotations

from pathlib import Path

from scrapy_dust.crawl_log.compaction import compact, compact_log
from scrapy_dust.crawl_log.hiding import KEY_FILE, Hider, local_key, new_key
from scrapy_dust.crawl_log.locks import lock_of_log
from scrapy_dust.crawl_log.log_names import is_own_name
from scrapy_dust.crawl_log.log_places import log_dir
from scrapy_dust.crawl_log.remote_logs import bytes_at, is_uri, move_in, remote_files, uri_below
from scrapy_dust.crawl_log.retention import Keep, Log, logs_below, prune
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.settings import DustSettings


def move_and_compact_logs(dust_dir: str | None, keep: Keep, *, compacting: bool) -> list[str]:
    """Look after the logs of ``DUST_DIR``. Returns a sentence for each thing that could not be done."""
    logs = log_dir(dust_dir)
    try:
        if dust_dir is not None and is_uri(dust_dir):
            failed = _move_ended_logs(logs, uri_below(dust_dir, "logs"))
            if not keep.everything:
                prune(remote_files(uri_below(dust_dir, "logs")), keep)
            return failed
        failed = compact(logs) if compacting else []
        prune(logs_below(logs), keep)
    except (CrawlLogError, OSError) as error:
        return [f"The crawl logs could not be looked after: {error}"]
    return failed


def keep_of(settings: DustSettings) -> Keep:
    """The limits that *settings* put on logs."""
    return Keep(settings.log_keep_days, settings.log_keep_crawls)


def hider(dust_dir: str | None, names: tuple[str, ...]) -> Hider | None:
    """The hider of the values of the parameters *names*, with the key of ``DUST_DIR``; None where *names*
    is empty.

    Raises `OSError` or `CrawlLogError` where there is no key to be had.
    """
    if not names:
        return None
    if dust_dir is not None and is_uri(dust_dir):
        return Hider(names, bytes_at(uri_below(dust_dir, KEY_FILE), new_key()))
    return Hider(names, local_key(log_dir(dust_dir).parent))


def _move_ended_logs(spool: Path, uri: str) -> list[str]:
    """Move all logs below *spool* that have ended to *uri*, compacted."""
    failed = []
    for log in logs_below(spool):
        try:
            ended = _compact_if_ours(log)
            with lock_of_log(ended) as ours:
                if ours and ended.stat().st_size:
                    move_in(ended, uri_below(uri, *ended.relative_to(spool).parts))
        except FileNotFoundError:  # another process is delivering it
            continue
        except OSError as error:
            failed.append(f"{log} stays here: it could not be moved to {uri} ({error.strerror or error}).")
    return failed


def _compact_if_ours(log: Log) -> Path:
    """Compact *log* if scrapy-dust has written it, and return the file that has its records now."""
    assert isinstance(log, Path)
    return compact_log(log) if is_own_name(log.name) and log.suffix == ".jsonl" else log
