"""What a crawl hands over comes out as records, however the pipe cuts it."""

from __future__ import annotations

import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dust.crawl_log.recording import Body, Describer, main, messages, to_message

PAGES = [
    Body(b"<html lang=en><title>One</title><p>some words, and some more", "text/html", None),
    Body(b"", "text/html", None),
    Body(b"\x89PNG\x00\x01", "image/png", None),
    Body(b"not really", "application/pdf", None),
    Body("eins zwei dr\xe9i vier".encode("latin-1"), "text/plain", "latin-1"),
    Body(b"<p>word " * 20_000, "text/html", "utf-8"),
    None,
]


class Pipe(io.RawIOBase):
    """Gives as many bytes at a time as it is told, in turn, as a pipe may."""

    def __init__(self, content: bytes, sizes: list[int]) -> None:
        self._content, self._sizes, self._turn = io.BytesIO(content), sizes, 0

    def read(self, size: int = -1) -> bytes:
        self._turn += 1
        return self._content.read(min(size, self._sizes[self._turn % len(self._sizes)]))


def answers(pages):
    return [({"url": f"http://a.test/{place}", "status": 200}, page) for place, page in enumerate(pages)]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(PAGES), max_size=8),
    st.lists(st.sampled_from((1, 7, 100, 5_000, 1 << 20)), min_size=2, max_size=4).filter(
        lambda s: max(s) > 99
    ),
    st.integers(0, 30),
)
def test_messages_come_out_whole_and_in_order_however_they_are_cut(pages, sizes, torn):
    sent = answers(pages)
    content = b"".join(to_message(*answer) for answer in sent)
    if not content or torn == 0:
        whole = sent
    else:
        content, whole = content[:-torn], sent[:-1]
    got = [answer for together in messages(Pipe(content, sizes)) for answer in together]
    assert got == whole


def test_records_of_pages_that_come_together_are_those_of_each_alone(tmp_path):
    path = tmp_path / "log.jsonl"
    sent = answers(PAGES * 3)
    where = to_message({"path": str(path), "hide": [], "key": "", "ignore": []})
    main(io.BytesIO(where + b"".join(to_message(*answer) for answer in sent)), io.StringIO())
    describer = Describer()
    alone = [json.loads(json.dumps(describer.record_of(*answer))) for answer in sent]
    assert [json.loads(line) for line in path.read_text().splitlines()] == alone


def test_one_record_that_cannot_be_made_costs_no_other(tmp_path):
    path, out = tmp_path / "log.jsonl", io.StringIO()
    sent = [*answers(PAGES[:2]), ({"status": 200}, PAGES[0]), *answers(PAGES[:3])]
    where = to_message({"path": str(path), "hide": [], "key": "", "ignore": []})
    main(io.BytesIO(where + b"".join(to_message(*answer) for answer in sent)), out)
    assert len(path.read_text().splitlines()) == 5
    assert out.getvalue() == "1 KeyError('url')\n"
