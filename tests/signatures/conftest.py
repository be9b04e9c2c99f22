"""A Redis of our own for as long as a module's tests last; skipped where there is none to start."""

from __future__ import annotations

import shutil
import socket
import subprocess
from importlib.util import find_spec

import pytest

from tests.waiting import wait_until


@pytest.fixture(scope="session")
def _redis_port(tmp_path_factory):
    if find_spec("redis") is None or shutil.which("redis-server") is None:
        pytest.skip("redis-server or redis-py is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("redis")
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        wait_until(lambda: _listens(port))
        yield port
        server.terminate()


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def redis_server(_redis_port, request):
    """The URL of an empty one."""
    import redis  # noqa: PLC0415

    client = redis.Redis(port=_redis_port)
    client.flushall()
    client.close()
    return f"redis://127.0.0.1:{_redis_port}/0"
