"""Hiding of the values of given parameters in every URL of a log.

A value becomes ``hidden`` and 16 hexadecimal digits, a BLAKE2 hash with a key that never leaves ``DUST_DIR``, so
that equal values stay equal and rules can be learned from them. URLs with one cannot be fetched again; `is_hidden`
knows them by it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

#: The fields of a record that are URLs.
URL_FIELDS = ("url", "redirect_to", "canonical", "duplicate_of", "referrer")
KEY_FILE = "log-hide.key"
_HIDDEN = re.compile(r"hidden[0-9a-f]{16}(?![0-9a-zA-Z])")


def is_hidden(url: str) -> bool:
    """Whether *url* has a hidden value, and so cannot be fetched."""
    return _HIDDEN.search(url) is not None


class Hider:
    """A function that hides the values of the parameters *names*, in any case: `?token=…`, `;token=…`,
    `#token=…`.

    In a URL that is itself the value of another parameter, percent-encoded, they are hidden too.
    """

    def __init__(self, names: Sequence[str], key: bytes) -> None:
        once = [quote(name, safe="") for name in names]
        spelled = {*names, *once, *(quote(name, safe="") for name in once)}
        name = "|".join(re.escape(spelling) for spelling in sorted(spelled, key=len, reverse=True))
        ends = "[&;#]|%(?:25)*(?:26|3B|23)"
        self._in_path = re.compile(rf"(;(?:{name})=)([^;/]+)", re.IGNORECASE)
        self._after = re.compile(rf"([?&;#](?:{name})=)([^&;#]+)", re.IGNORECASE)
        self._inside = re.compile(
            rf"(%(?:25)*(?:3F|26|3B|23)(?:{name})(?:=|%(?:25)*3D))((?:(?!{ends}).)+)",
            re.IGNORECASE | re.DOTALL,
        )
        self.names, self.key = tuple(names), key

    def __call__(self, record: Mapping[str, object]) -> Mapping[str, object]:
        """*record* with the secret values hidden in all of its URLs."""
        urls = {name: value for name in URL_FIELDS if isinstance(value := record.get(name), str)}
        return {**record, **{name: self.hide(url) for name, url in urls.items()}}

    def hide(self, url: str) -> str:
        """*url* with its secret values hidden."""
        path, rest = url[: (at := _path_end(url))], url[at:]
        return self._in_path.sub(self._hide_value, path) + self._inside.sub(
            self._hide_value, self._after.sub(self._hide_value, rest)
        )

    def _hide_value(self, found: re.Match[str]) -> str:
        """The text of the match *found*, a parameter with its value, with a hash in the place of the value."""
        # Not loaded where nothing is hidden: it brings OpenSSL.
        from hashlib import blake2b  # noqa: PLC0415

        value = found[2]
        if _HIDDEN.fullmatch(value):
            return found[0]
        said = value.encode("utf-8", "surrogatepass")
        return f"{found[1]}hidden{blake2b(said, key=self.key, digest_size=8).hexdigest()}"


def _path_end(url: str) -> int:
    """The position in *url* at which the path has ended."""
    return min((at for at in (url.find("?"), url.find("#")) if at >= 0), default=len(url))


def new_key() -> bytes:
    """A new random key for hiding values."""
    return os.urandom(32)


def local_key(folder: Path) -> bytes:
    """The secret key in *folder* by which hidden values become hashes, made at the first call. Its owner alone may read it."""
    path = folder / KEY_FILE
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f".{KEY_FILE}.{os.urandom(4).hex()}"
    try:
        return path.read_bytes()
    except FileNotFoundError:
        pass
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(new_key())
    try:
        # Unlike a renaming, this fails where another crawl was quicker; its key is the one.
        os.link(made, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
    return path.read_bytes()
