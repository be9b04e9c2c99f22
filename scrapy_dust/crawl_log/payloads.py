"""Takes chunks and compression away from the bodies of archived HTTP answers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from importlib import import_module

#: A body that is longer unpacked is not looked into: it may be a bomb.
MAX_BODY = 64 * 1024 * 1024


def payload_of(payload: bytes, headers: Mapping[str, str]) -> bytes | None:
    """The body; None where a part is missing. A body that is not compressed, as its header says, is taken as it is."""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        payload = _join_chunks(payload)
    body: bytes | None = payload
    codings = headers.get("content-encoding", "").lower().replace(" ", "").split(",")
    for coding in reversed([coding for coding in codings if coding not in ("", "identity")]):
        unpack = _UNPACK.get(coding)
        if unpack is None or body is None:
            return None
        body = unpack(body)
    return body


def _join_chunks(payload: bytes) -> bytes:
    """The body without chunks. Archives often keep the header of a body that they have unpacked."""
    pieces: list[bytes] = []
    at = 0
    while True:
        end = payload.find(b"\r\n", at, at + 64)
        length = _chunk_length(payload[at:end]) if end > 0 else None
        if length is None:
            return b"".join(pieces) if pieces else payload
        if length == 0:
            return b"".join(pieces)
        pieces.append(payload[end + 2 : end + 2 + length])
        at = end + 2 + length + 2


def _chunk_length(line: bytes) -> int | None:
    """The length that the head of a chunk says; None if it is no number."""
    try:
        return int(line.partition(b";")[0].strip(), 16)
    except ValueError:
        return None


def _unpack_zlib(body: bytes, window: int) -> bytes | None:
    """*body* unpacked, or None if it is damaged or cut off. *window*: which format, as zlib's `decompressobj` takes it."""
    unpacker = zlib.decompressobj(window)
    try:
        found = unpacker.decompress(body, MAX_BODY)
    except zlib.error:
        return None
    return found if unpacker.eof else None


def _unpack_gzip(body: bytes) -> bytes | None:
    return _unpack_zlib(body, 16 + zlib.MAX_WBITS) if body.startswith(b"\x1f\x8b") else body


def _unpack_deflate(body: bytes) -> bytes | None:
    found = _unpack_zlib(body, zlib.MAX_WBITS)
    return _unpack_zlib(body, -zlib.MAX_WBITS) if found is None else found


def _unpack_brotli(body: bytes) -> bytes | None:
    brotli = import_module("brotli")
    unpacker = brotli.Decompressor()
    try:
        found: bytes = unpacker.process(body, output_buffer_limit=MAX_BODY)
    except brotli.error:
        return None
    return found if unpacker.is_finished() else None


_UNPACK: dict[str, Callable[[bytes], bytes | None]] = {
    "gzip": _unpack_gzip,
    "x-gzip": _unpack_gzip,
    "deflate": _unpack_deflate,
    "br": _unpack_brotli,
}
