"""Files of state beside the logs: JSON with a value for each site, of which the newest are kept.

Losing such a file costs fetches, or a warning that a crawl might have given, and nothing else. So a damaged file is no
error; it is begun anew, and whoever asks is told why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Generic, TypeVar

from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import safe_files
from scrapy_dust.rules.strict_json import Block, Damaged, dump_json, load_json

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class StateFile(Generic[Value]):
    """One kind of state file. *read* and *write* turn the JSON of a site into its value and back."""

    name: str
    format: int
    read: Callable[[Block], Value]
    write: Callable[[Value], object]
    most: int = 2000  #: sites that are kept

    def read_values(self, folder: str | PathLike[str]) -> tuple[dict[str, Value], str | None]:
        """The values by site in the file of *folder*, and in one sentence why they are lost, if they are."""
        path = Path(folder) / self.name
        try:
            content = safe_files.read(fspath(path))
            return {} if content is None else self.parse_values(content), None
        except (Damaged, RuleBookError) as error:
            return {}, str(error) if isinstance(error, RuleBookError) else f"{path}: {error}."

    def parse_values(self, content: bytes) -> dict[str, Value]:
        """The values by site in *content*. Raises `Damaged`."""
        file = Block(load_json(content), "the file")
        found = file.count("format")
        if found != self.format:
            raise Damaged(f"it has format {found}; this version reads {self.format}")
        sites = Block(file.take("sites"), "'sites'")
        return {site: self.read(Block(sites.take(site), repr(site))) for site in list(sites.rest())}

    def change(
        self, folder: str | PathLike[str], change: Callable[[dict[str, Value]], Mapping[str, Value]]
    ) -> None:
        """Replace the values by the result of *change*, while no other process can write. Raises `RuleBookError`."""
        safe_files.make_folder(Path(folder))
        with safe_files.lock(fspath(Path(folder) / self.name)) as file:
            newest = list(change(self.read_values(folder)[0]).items())[-self.most :]
            sites = {site: self.write(value) for site, value in newest}
            safe_files.replace(file, dump_json({"format": self.format, "sites": sites}))
