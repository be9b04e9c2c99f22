"""One request at a time to a server of this machine, and where it leads."""

from __future__ import annotations

import http.client
from collections.abc import Mapping

from tests.waiting import PATIENCE

Answered = tuple[int, str, str | None]  #: status, body, where it sends us


def answer(port: int, path: str, headers: Mapping[str, bytes] | None = None) -> Answered:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers=dict(headers or {}))
        came = connection.getresponse()
        return came.status, came.read().decode(), came.headers["Location"]
    finally:
        connection.close()


def followed(port: int, path: str) -> tuple[str, int]:
    """Where redirects end, and how many they were."""
    hops = 0
    while True:
        status, _, location = answer(port, path)
        if status != 301:
            assert status in (403, 404)
            return path, hops
        assert location is not None
        path, hops = location.removeprefix(f"http://127.0.0.1:{port}"), hops + 1
        assert hops < 5
