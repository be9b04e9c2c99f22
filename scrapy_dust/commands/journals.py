"""The actions of ``scrapy dustrules`` about suppressed URLs: what became of a URL, and giving URLs back."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

from w3lib.url import safe_url_string

from scrapy_dust.commands.context import Context
from scrapy_dust.commands.output import printable, unchanged_in_pipes
from scrapy_dust.crawl_log.log_upkeep import hider
from scrapy_dust.journal.events import Event, What, to_record
from scrapy_dust.journal.journal_places import existing_journal_dir, journals, requeue_dir, spider_of
from scrapy_dust.journal.reader import read
from scrapy_dust.journal.requeue import put, suppressed_by

History = Sequence[tuple[str, Event]]  # with the spider whose crawl it was


def history(context: Context, url: str) -> History | None:
    """The events of *url* in the journals, the oldest first; None where there is no journal."""
    folder = existing_journal_dir(context.dust_dir)
    segments = [] if folder is None else journals(folder)
    if not segments:
        return None
    hide = hider(context.dust_dir, context.hide)
    spellings = {url, safe_url_string(url)}
    spellings |= {hide.hide(spelling) for spelling in spellings} if hide is not None else set()
    marks = [json.dumps(spelling)[1:-1].encode("ascii") for spelling in spellings]
    found = read(segments, where=lambda line: any(mark in line for mark in marks))
    told = [(spider_of(segment), event) for segment, event in found if event.url in spellings]
    return sorted(told, key=lambda one: one[1].at)


def event_line(one: tuple[str, Event]) -> str:
    """A line for people about an event of a URL, given with the name of the spider that met it."""
    spider, event = one
    said = {
        What.PUT_LAST: f"fetched after all others, since pages like it ({', '.join(event.rules)}) had brought nothing new",
        What.SUPPRESSED: f"suppressed by {', '.join(event.rules)}; fetched instead: {event.keeper or 'unknown'}",
        What.RETURNED: f"given back to the spider, since {event.note}",
        What.TESTED: f"fetched to test {', '.join(event.rules) or 'rules'}; {_outcome_in_words(event)}",
        What.SUSPENDED: f"showed another page than {event.keeper}, so that {', '.join(event.rules)} was suspended",
    }[event.what]
    return printable(f"{event.at[:19].replace('T', ' ')}  {spider}  {said}")


def _outcome_in_words(event: Event) -> str:
    """The outcome of a test of rules as a clause. The journal has the outcome as one word."""
    found = {"same": "showed the same page as", "different": "showed another page than"}.get(event.note or "")
    return f"could not be compared with {event.keeper}" if found is None else f"{found} {event.keeper}"


def requeue(context: Context, *ids: str, spider: str | None, dry_run: bool) -> None:
    """Print the URLs that rules suppressed, and leave them for the next crawl of each spider."""
    folder = existing_journal_dir(context.dust_dir)
    found = {} if folder is None else suppressed_by(folder, ids)
    found = {
        of: events
        for of, events in found.items()
        if spider is None or of.name == _folder_name(context, spider)
    }
    if not found:
        book = context.book()
        for wanted in ids:
            context.named(book, wanted)
        print("No journal has a URL that is still suppressed by these rules.", file=sys.stderr)
        return
    for of, events in found.items():
        _print_events(context, of.name, events.values())
        again = [event for event in events.values() if event.request is not None]
        if again and not dry_run:
            path = put(requeue_dir(context.dust_dir) / of.name, again)
            print(
                f"{len(again)} URLs wait in {path}; the next crawl of {spider_of(path)!r} fetches them.",
                file=sys.stderr,
            )
        if len(again) < len(events):
            print(
                f"{len(events) - len(again)} URLs cannot be asked for again: DUST_LOG_HIDE hides a part of each.",
                file=sys.stderr,
            )


def _folder_name(context: Context, spider: str) -> str:
    """The name of the folder with the requests that are to be given back to *spider*."""
    return requeue_dir(context.dust_dir, spider).name


def _print_events(context: Context, spider: str, events: Iterable[Event]) -> None:
    """Print the URL of each event, or the whole event as JSON."""
    for event in events:
        print(
            json.dumps({"spider": spider, **to_record(event)})
            if context.as_json
            else unchanged_in_pipes(event.url)
        )
