"""Reads the text of PDFs with PDFium (``scrapy-dust[pdf]``). Without PDFium, or if it fails, a PDF counts by its
bytes.

A few kilobytes of PDF can stand for gigabytes of text objects, and the bytes do not show it. So each PDF is read in a
process of its own that may take `SECONDS` and `MEMORY`, which costs 0.2 s.

Measured on Debian's manuals, PDFium takes 10 ms for 2,000 words; pypdf takes fifteen times, pdfminer.six forty times
as long.
"""

from __future__ import annotations

import json
import logging
import sys
from functools import cache
from importlib.util import find_spec

from scrapy_dust.page.markup import MAX_TITLE, Document
from scrapy_dust.page.unit_reading import units_of_pages

#: Bytes of a PDF. Its end says where its parts are, so a PDF is read as a whole or not at all.
MAX_PDF_BYTES = 16 * 1024 * 1024
MAX_PAGES = 500
SECONDS = 10
MEMORY = 1 << 30

logger = logging.getLogger(__name__)

# What the process runs: as little as possible is imported there.
_PROGRAM = """
import json, sys
try:
    import resource
except ImportError:
    limits = []
else:
    memory, seconds = map(int, sys.argv[2:])
    limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory)]
for limit, value in limits:
    try:
        resource.setrlimit(limit, (value, value))
    except (ValueError, OSError):
        pass  # macOS has no limit of memory
import pypdfium2
pdf = pypdfium2.PdfDocument(sys.stdin.buffer.read())
pages, texts = len(pdf), []
for number in range(min(pages, int(sys.argv[1]))):
    page = pdf[number]
    text = page.get_textpage()
    texts.append(text.get_text_bounded())
    text.close()
    page.close()
print(json.dumps([pages, pdf.get_metadata_value("Title"), "\\f".join(texts)]))
"""


def read_pdf(body: bytes, *, with_units: bool = False) -> tuple[Document, bool] | None:
    """The text of *body*, a PDF, and whether that is all of it; None if it cannot be read."""
    if not body.startswith(b"%PDF-") or len(body) > MAX_PDF_BYTES or not _is_installed():
        return None
    import subprocess  # noqa: PLC0415  Not loaded where no PDF comes.

    limits = map(str, (MAX_PAGES, MEMORY, SECONDS))
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-P", "-c", _PROGRAM, *limits],
            input=body,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=3 * SECONDS,
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return None
    pages, title, text = json.loads(done.stdout)
    units = units_of_pages(text, title) if with_units else None
    return Document(text, title=" ".join(title.split())[:MAX_TITLE] or None, units=units), pages <= MAX_PAGES


@cache
def _is_installed() -> bool:
    if find_spec("pypdfium2") is None:
        logger.info(
            "PDFs are compared by their bytes only; `pip install scrapy-dust[pdf]` lets their text be read."
        )
        return False
    return True
