"""Answers to one URL in the form that a judge compares: answers that were fetched, and answers that the log has."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_dust.page.compare import Answer


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer of a fetch of one URL."""

    url: str  #: what was asked for
    final_url: str  #: where redirects ended
    status: int | None  #: None: no answer
    shown: Answer | None = None  #: the units of the page; None: nothing was answered
    text_digest: str = ""
    sketch: tuple[int, ...] | None = None  #: as the log has it
    marks: frozenset[str] = frozenset()  #: hints that another page was asked for: `page/marks.py`
    at: float = 0.0  #: when the answer came, in seconds

    @property
    def answered(self) -> bool:
        """Whether the answer has a status of success."""
        return self.status is not None and self.status < 300

    @property
    def is_refusal(self) -> bool:
        """Whether the answer is about the client or the server, such as 429, and not about the page."""
        return self.status is None or self.status in (401, 403, 407, 408, 429) or self.status >= 500


@dataclass(frozen=True, slots=True)
class Known:
    """The page that a URL showed, as the log has it."""

    shown: Answer | None = None  #: None: the log has no units of the page
    text_digest: str | None = None
    sketch: tuple[int, ...] | None = None
    size: tuple[int, int] | None = None
    at: float = 0.0  #: when that was, in seconds; 0: the log does not say

    @property
    def says_something(self) -> bool:
        """Whether the log has anything of the page that can be compared."""
        return self.shown is not None or self.text_digest is not None or self.sketch is not None

    def differs(self, other: Known) -> bool:
        """Whether the log shows that the two were different pages."""
        if self.text_digest is not None and other.text_digest is not None:
            return self.text_digest != other.text_digest
        if self.size is None or other.size is None:
            return False
        return max(self.size[0], other.size[0]) > 1.1 * min(self.size[1], other.size[1])
