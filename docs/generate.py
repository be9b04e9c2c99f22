"""Writes the tables of these pages from where the code declares what they list.

`python docs/generate.py` rewrites what stands between a page's markers; with `--check` nothing is written,
and pages that are behind are named.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parent))
from described import groups, meaning, schema_of
from elements import ELEMENTS

from scrapy_dust.believe.states import TABLE, Event, Status, after
from scrapy_dust.commands.declared_commands import offered
from scrapy_dust.crawl import life
from scrapy_dust.rules.language import OPERATIONS
from scrapy_dust.settings import PREFIX, DustSettings, setting_name
from scrapy_dust.stats import Stat

HERE = Path(__file__).parent


def settings_table() -> Iterator[str]:
    """The settings under their headings: first those that users touch."""
    known = {spec.name: spec for spec in fields(DustSettings)}
    for heading, names in groups().items():
        yield f"\n## {heading}\n"
        yield "| setting | default | meaning |"
        yield "|---|---|---|"
        for spec in map(known.__getitem__, names):
            name, symbol = setting_name(spec.name), spec.metadata["symbol"]
            shown = f"`{name}`" + (f", `{PREFIX}{symbol}`" if symbol else "")
            yield f"| {shown} | {_as_shown(spec.default)} | {spec.metadata['doc']} |"
    yield ""


#: Characters of a default beyond which it stands below the tables.
_LONG = 60


def _as_shown(default: object) -> str:
    text = _as_written(default)
    return f"`{text}`" if len(text) <= _LONG else "a list, [below](#long-defaults)"


def long_defaults() -> Iterator[str]:
    """The defaults that are too long for a table."""
    for spec in fields(DustSettings):
        if len(text := _as_written(spec.default)) > _LONG:
            yield f"\n`{setting_name(spec.name)}`: `{text}`"
    yield ""


def stats_table() -> Iterator[str]:
    yield "| stat | what it counts |"
    yield "|---|---|"
    for stat in Stat:
        yield f"| `{stat.value}` | {stat.doc} |"


def commands_reference() -> Iterator[str]:
    commands = offered()
    # What all have is Scrapy's.
    common = set.intersection(*(set(one.options) for one in commands))
    for one in commands:
        command = import_module(f"scrapy_dust.commands.{one.name}").Command()
        yield f"\n## scrapy {one.name}\n"
        yield command.long_desc().partition(". list: ")[0].partition(". bash: ")[0].rstrip(".") + ".\n"
        if one.actions:
            yield "| action | what it does |"
            yield "|---|---|"
            for name, action in command.actions.items():
                yield f"| `{_in_table(f'{name} {action.syntax}'.strip())}` | {_in_table(action.what)} |"
            yield ""
        own = [option for option in one.options if option not in common]
        if own:
            yield "| option | what it does |"
            yield "|---|---|"
        for option in own:
            value = f" {option.metavar}" if option.metavar else ""
            names = ", ".join(f"`{_in_table(name + value)}`" for name in option.names)
            yield f"| {names} | {_in_table(option.help)} |"


def _in_table(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;") if "`" not in text else text.replace("|", "\\|")


def _as_written(default: object) -> str:
    if isinstance(default, str | tuple):
        return json.dumps(default, ensure_ascii=False)
    return repr(default)


def states_table() -> Iterator[str]:
    """What becomes of a rule: a row for each status, a column for each event, and the same drawn."""
    yield "| a rule that is | " + " | ".join(event.value for event in Event) + " |"
    yield "|---|" + "---|" * len(Event)
    for status in TABLE:
        cells = (_new_status(status, event) for event in Event)
        yield f"| {_status(status)} | " + " | ".join(cells) + " |"
    yield ""
    yield from states_diagram()


def states_diagram() -> Iterator[str]:
    """The table of what becomes of a rule, drawn."""
    yield "```mermaid\nstateDiagram-v2"
    for status, events in TABLE.items():
        for event, then in events.items():
            yield f"    {'[*]' if status is None else status} --> {then}: {event.value}"
    yield "```"


def _status(status: Status | None) -> str:
    return "proposed" if status is None else str(status)


def _new_status(status: Status | None, event: Event) -> str:
    then = after(status, event)
    return "" if then is status else _status(then)


def operations_table() -> Iterator[str]:
    yield "| `do` | with | what it does |"
    yield "|---|---|---|"
    for name, kind in sorted(OPERATIONS.items()):
        made_of = ", ".join(f"`{spec.name}`" for spec in fields(cast("Any", kind)))
        yield f"| `{name}` | {made_of} | {meaning(kind).replace('``', '`')} |"


def elements_table() -> Iterator[str]:
    yield "| | paper | section | what | where | exact, or how it deviates |"
    yield "|---:|---|---|---|---|---|"
    for number, one in enumerate(ELEMENTS, start=1):
        where = ", ".join(f"`{name.replace(':', ' ')}`" for name in one.where) or "–"
        how = f"{one.how} ([there]({one.said}))" if one.said else one.how
        yield f"| {number} | {one.paper} | {one.section} | {one.what} | {where} | {how} |"


TABLES = {
    "../ARCHITECTURE.md": (life.diagrams, states_diagram),
    "commands.md": (commands_reference,),
    "crawling.md": (life.diagrams,),
    "papers.md": (elements_table,),
    "rule-book.md": (operations_table, states_table),
    "settings.md": (settings_table, long_defaults),
    "stats.md": (stats_table,),
}
SCHEMA = HERE.parent / "scrapy_dust" / "rule_book" / "schema.json"


def schema() -> str:
    """The schema of rule books as it should be: what operations look like, they say themselves."""
    found = json.loads(SCHEMA.read_text("utf-8"))
    found["$defs"]["operation"]["oneOf"] = [schema_of(kind) for _, kind in sorted(OPERATIONS.items())]
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def page_with_tables(name: str) -> str:
    """The page as it should be. Raises `ValueError` where it has not a pair of markers for each of its tables."""
    begin, end = "<!-- table: docs/generate.py -->", "<!-- end of table -->"
    first, *parts = (HERE / name).read_text("utf-8").split(begin)
    tables = TABLES[name]
    if len(parts) != len(tables) or any(end not in part for part in parts):
        raise ValueError(
            f"docs/{name} must have {len(tables)} times {begin!r} … {end!r}. Put the two lines where a table belongs."
        )
    made = ("\n".join([begin, *table(), end]) for table in tables)
    return first + "".join(one + part.partition(end)[2] for one, part in zip(made, parts, strict=True))


def main(arguments: list[str]) -> int:
    wanted = {(HERE / name).resolve(): page_with_tables(name) for name in TABLES} | {SCHEMA: schema()}
    behind = [path for path, text in wanted.items() if path.read_text("utf-8") != text]
    if "--check" not in arguments:
        for path in behind:
            path.write_text(wanted[path], "utf-8")
        return 0
    for path in behind:
        name = path.relative_to(HERE.parent)
        print(f"{name} is not what the code declares. Run: python docs/generate.py", file=sys.stderr)
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
