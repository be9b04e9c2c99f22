"""Pages that were kept and are not written yet, so that a crawl sees its own pages at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scrapy_dust.signatures.store_interface import KeeperPage, Outline, Row, Signatures


class Pending:
    """Pages that are not yet written to a store, by URL."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}
        self._keepers: dict[bytes, str] = {}
        self._outlines: dict[str, tuple[Outline, Sequence[int]]] = {}
        self._bands: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return len(self._rows) + len(self._outlines)

    def __contains__(self, url: str) -> bool:
        return url in self._rows

    def add(self, row: Row, *, claim: bool = True) -> None:
        """Add a page. *claim*: it becomes the keeper of signatures without one."""
        self._rows[row.url] = row
        for signature in row.signatures if claim else ():
            if self.keeper(signature) is None:
                self._keepers[signature] = row.url

    def add_near(self, outline: Outline, bands: Sequence[int]) -> None:
        """Add the *outline* of a page, to be found by each of *bands*, as a candidate for a near-duplicate."""
        self._outlines[outline.url] = outline, bands
        for band in bands:
            self._bands.setdefault(band, []).append(outline.url)

    def keeper(self, signature: bytes) -> KeeperPage | None:
        """The page that showed *signature* first, as long as it still shows it."""
        row = self._rows.get(self._keepers.get(signature, ""))
        return KeeperPage(row.url, row.kind) if row is not None and signature in row.signatures else None

    def signatures(self, url: str) -> Signatures | None:
        """The signatures of *url*'s page; None if it shows nothing."""
        return self._rows[url].signatures or None

    def near(self, bands: Iterable[int]) -> Iterator[Outline]:
        """The outlines of pages that share a band with a page: candidates for its near-duplicates."""
        urls = dict.fromkeys(url for band in bands for url in self._bands.get(band, ()))
        return (self._outlines[url][0] for url in urls)

    def rows(self) -> Iterable[Row]:
        """All pages."""
        return self._rows.values()

    def outlines(self) -> Iterable[tuple[Outline, Sequence[int]]]:
        """All outlines, with their bands."""
        return self._outlines.values()

    def clear(self) -> None:
        """Forget all pages."""
        for held in (self._rows, self._keepers, self._outlines, self._bands):
            held.clear()
