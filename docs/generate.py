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

from scrapy_dust.commands.offered import offered
from scrapy_dust.settings import PREFIX, DustSettings, setting_name
from scrapy_dust.stats import Stat

HERE = Path(__file__).parent


def settings_table() -> Iterator[str]:
    yield "| setting | default | meaning |"
    yield "|---|---|---|"
    for spec in fields(DustSettings):
        name, symbol = setting_name(spec.name), spec.metadata["symbol"]
        names = f"`{name}`" + (f", `{PREFIX}{symbol}`" if symbol else "")
        yield f"| {names} | `{_as_written(spec.default)}` | {spec.metadata['doc']} |"


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
        return json.dumps(default)
    return repr(default)


TABLES = {"commands.md": commands_reference, "settings.md": settings_table, "stats.md": stats_table}


def page_with_table(name: str) -> str:
    """The page as it should be. Raises `ValueError` where it has no pair of markers."""
    begin, end = "<!-- table: docs/generate.py -->", "<!-- end of table -->"
    before, _, rest = (HERE / name).read_text("utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"docs/{name}: no {begin!r} … {end!r}. Put the two lines where the table belongs.")
    return before + "\n".join([begin, *TABLES[name](), end]) + after


def main(arguments: list[str]) -> int:
    behind = [name for name in TABLES if (HERE / name).read_text("utf-8") != page_with_table(name)]
    if "--check" not in arguments:
        for name in behind:
            (HERE / name).write_text(page_with_table(name), "utf-8")
        return 0
    for name in behind:
        print(f"docs/{name} is not what the code declares. Run: python docs/generate.py", file=sys.stderr)
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
