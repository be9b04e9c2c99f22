"""The dusty web on loopback, as an HTTP proxy that counts.

A request in absolute form (``GET http://www.forum.test/ HTTP/1.1``), or one with such a ``Host``, is answered from the
web and counted; nothing is ever passed on. ``GET /__counts__`` gives the counts as JSON, ``GET /__reset__`` empties
them. A page that changes at each fetch goes on changing after a reset; what fails at first, fails again.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from dusty_web.web import DustyWeb, Response

_JSON = "application/json"


@dataclass(slots=True)
class Counts:
    """Every request since the last reset."""

    seed: int
    rows: dict[tuple[str, int, str], list[int]] = field(default_factory=dict)  #: → requests, bytes
    asked: Counter[str] = field(default_factory=Counter)  #: URL → requests since the reset
    ever: Counter[str] = field(default_factory=Counter)  #: URL → requests since the start

    def add(self, url: str, response: Response) -> None:
        row = self.rows.setdefault((url, response.status, response.content), [0, 0])
        row[0] += 1
        row[1] += len(response.body)
        self.asked[url] += 1
        self.ever[url] += 1

    def reset(self) -> None:
        self.rows.clear()
        self.asked.clear()

    def as_json(self) -> bytes:
        rows = [
            {"url": url, "status": status, "content": content or None, "requests": requests, "bytes": size}
            for (url, status, content), (requests, size) in self.rows.items()
        ]
        return json.dumps({"seed": self.seed, "rows": rows}).encode()


class Connection(asyncio.Protocol):
    """One client's connection, kept alive; requests may be pipelined."""

    def __init__(self, web: DustyWeb, counts: Counts) -> None:
        self._web, self._counts = web, counts
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            length = headers.get("content-length", "0")
            end += 4 + (int(length) if length.isdigit() else 0)
            if len(self._buffer) < end:
                return
            self._buffer = self._buffer[end:]
            self._handle(first, headers)

    def _handle(self, first: str, headers: dict[str, str]) -> None:
        try:
            method, target, version = first.split(" ")
        except ValueError:
            self._send(Response(400, b"Not a request.\n", "text/plain"), with_body=True, keep=False)
            return
        keep = version == "HTTP/1.1" and "close" not in headers.get("connection", "").lower()
        self._send(
            self._respond(method, target, headers.get("host", "")), with_body=method != "HEAD", keep=keep
        )

    def _respond(self, method: str, target: str, host: str) -> Response:
        if target == "/__counts__":
            return Response(200, self._counts.as_json(), _JSON)
        if target == "/__reset__":
            self._counts.reset()
            return Response(200, b"{}", _JSON)
        url = f"http://{host}{target}" if target.startswith("/") else target.partition("#")[0]
        counts = self._counts
        if method in ("GET", "HEAD") and url.startswith("http://"):
            response = self._web.respond(url, nth=counts.asked[url], ever=counts.ever[url])
            delivered = response if method == "GET" else replace(response, body=b"", content="")
            counts.add(url, delivered)
            return response
        response = Response(405, b"Only GET and HEAD of http URLs are answered here.\n", "text/plain")
        counts.add(url, response)
        return response

    def _send(self, response: Response, *, with_body: bool, keep: bool) -> None:
        head = (
            f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}\r\n"
            f"Content-Type: {response.content_type}\r\nContent-Length: {len(response.body)}\r\n"
            + (f"Location: {response.location}\r\n" if response.location else "")
            + ("" if keep else "Connection: close\r\n")
        )
        self._transport.write(head.encode() + b"\r\n" + (response.body if with_body else b""))
        if not keep:
            self._transport.close()


async def serve(seed: int, port: int) -> None:
    """Serve on loopback until cancelled. Prints the port, and nothing else, once connections are taken."""
    web, counts = DustyWeb(seed), Counts(seed)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(web, counts), "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()
