"""Pages that were kept and are not written yet, so that a crawl sees its own pages at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scrapy_dust.signatures.store_interface import KeeperPage, Outline, Row


class Pending:
    """Pages that are not yet written to a store, by URL."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self._keepers: dict[bytes, str] = {}
        self.outlines: dict[str, tuple[Outline, Sequence[int]]] = {}  #: with their bands
        self._bands: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return len(self.rows) + len(self.outlines)

    def add(self, row: Row, *, claim: bool = True) -> None:
        """Add a page. *claim*: it becomes the keeper of signatures without one."""
        self.rows[row.url] = row
        for signature in row.signatures if claim else ():
            if self.keeper(signature) is None:
                self._keepers[signature] = row.url

    def add_near(self, outline: Outline, bands: Sequence[int]) -> None:
        """Add the *outline* of a page, to be found by each of *bands*, as a candidate for a near-duplicate."""
        self.outlines[outline.url] = outline, bands
        for band in bands:
            self._bands.setdefault(band, []).append(outline.url)

    def keeper(self, signature: bytes) -> KeeperPage | None:
        """The page that showed *signature* first, as long as it still shows it."""
        row = self.rows.get(self._keepers.get(signature, ""))
        return KeeperPage(row.url, row.kind) if row is not None and signature in row.signatures else None

    def near(self, bands: Iterable[int]) -> Iterator[Outline]:
        """The outlines of pages that share a band with a page: candidates for its near-duplicates."""
        urls = dict.fromkeys(url for band in bands for url in self._bands.get(band, ()))
        return (self.outlines[url][0] for url in urls)

    def clear(self) -> None:
        """Forget all pages."""
        for held in (self.rows, self._keepers, self.outlines, self._bands):
            held.clear()
