"""The one place that talks to Redis. While Redis cannot be reached, calls raise `Gone`."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Iterable
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import ReadOnlyError
from redis.exceptions import TimeoutError as NoAnswer
from redis.retry import Retry
from scrapy.settings import BaseSettings

from scrapy_dust.crawl.class_store import StoreGone
from scrapy_dust.redis import lua_scripts
from scrapy_dust.settings import DustSettings

#: Keys whose names do not depend on a class or a worker.
_KEYS = "meta seen classes with_heirs landings suspended versions workers".split()

#: In seconds. A crawl does nothing else while it waits for an answer.
_PATIENCE = 10.0

#: In seconds: how long a Redis that was not there is not asked again, at first and at most.
_PAUSES = (0.5, 8.0)

Arguments = Iterable[str | bytes | int]


class Gone(StoreGone):
    """Redis cannot be reached now. The call itself was right, and may be repeated."""


class Server:
    """The connection of one worker to Redis, for the keys of one spider."""

    def __init__(self, client: Any, prefix: str, expire: int | None) -> None:
        self.prefix = prefix
        self.worker = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._client = client
        self._expire = expire
        self._scripts: dict[str, Any] = {}
        self._ids = 0
        self._pause, self._asleep_until = _PAUSES[0], 0.0

    def key(self, name: str) -> str:
        """The name of a key in Redis."""
        return self.prefix + name

    @property
    def held(self) -> str:
        """The name of the key with the requests that this worker holds."""
        return self.key(f"held:{self.worker}")

    @property
    def done(self) -> str:
        """The name of the key with this worker's calls that Redis has carried out, perhaps without the worker's knowing."""
        return self.key(f"done:{self.worker}")

    def new_id(self) -> str:
        """A new id for a request that this worker holds."""
        self._ids += 1
        return f"{self.worker}.{self._ids}"

    def run(self, script: str, keys: Iterable[str | bytes], arguments: Arguments = ()) -> Any:
        """Run *script* in Redis. Raises `Gone` while Redis is away."""
        registered = self._scripts.get(script)
        if registered is None:
            registered = self._scripts[script] = self._client.register_script(lua_scripts.PRELUDE + script)
        return self._call_redis(registered, list(keys), list(arguments))

    def ask(self, command: str, *arguments: Any) -> Any:
        """Send one command to Redis. Raises `Gone` while Redis is away."""
        return self._call_redis(getattr(self._client, command), *arguments)

    def _call_redis(self, ask: Any, *arguments: Any) -> Any:
        """The result of *ask*. After a failure, Redis is left alone for longer and longer times."""
        if time.monotonic() < self._asleep_until:
            raise Gone("it was not there a moment ago")
        try:
            answer = ask(*arguments)
        except (NoConnection, NoAnswer, ReadOnlyError) as error:
            self._asleep_until = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, _PAUSES[1])
            raise Gone(str(error)) from error
        self._pause = _PAUSES[0]
        return answer

    def secret(self) -> bytes:
        """The secret by which all workers of this crawl draw canaries."""
        self.ask("hsetnx", self.key("meta"), "secret", secrets.token_hex(32))
        found: bytes = self.ask("hget", self.key("meta"), "secret")
        return found

    def keep_alive(self) -> None:
        """Put off the expiry of this crawl's keys, which go after `DUST_REDIS_EXPIRE` seconds without use."""
        if self._expire is None:
            return
        for name in (*map(self.key, _KEYS), self.held, self.done):
            self.ask("expire", name, self._expire)
        for key in self.ask("smembers", self.key("with_heirs")):
            self.ask("expire", self.key("heirs:").encode() + key, self._expire)

    def drop(self, queue: str, lease: int, *, force: bool = False) -> bool:
        """Forget everything of all workers, if the crawl has ended or *force* is given. Returns whether it was done.

        *queue*: scrapy-redis' key, or one that does not exist.
        """
        arguments = (self.worker, self.prefix, lease, "1" if force else "", *_KEYS)
        return bool(self.run(lua_scripts.DROP, (self.key("workers"), queue), arguments))


def server_of(settings: DustSettings, project: BaseSettings, spider: str) -> Server:
    """The connection to the Redis that DUST_REDIS_URL names, or else to the one that the project's scrapy-redis uses."""
    given: dict[str, Any] = dict(project.getdict("REDIS_PARAMS"))
    url = settings.redis_url or given.pop("url", None) or project.get("REDIS_URL")
    cls = given.pop("redis_cls", None)
    given |= {
        # One more attempt, at once: connections that were idle are closed by others, too.
        "retry": Retry(NoBackoff(), 1),
        "socket_timeout": given.get("socket_timeout", _PATIENCE),
        "socket_connect_timeout": given.get("socket_connect_timeout", _PATIENCE),
        "decode_responses": False,
    }
    given.pop("retry_on_timeout", None)
    made: Any = cls if isinstance(cls, type) else Redis
    if url:
        client = made.from_url(url, **given)
    else:
        where = {name: project.get(f"REDIS_{name.upper()}") for name in ("host", "port", "db")}
        client = made(**{name: value for name, value in where.items() if value is not None} | given)
    prefix = settings.redis_key.replace("%(spider)s", spider)
    return Server(client, f"{prefix}:", settings.redis_expire)
