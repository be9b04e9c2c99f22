"""Decodes bytes to text by the declared encoding, never by a guess.

A guess depends on the bytes, so two copies of a page that differ in one word could come out as different texts. A
body that declares nothing is UTF-8. Each byte that cannot be decoded becomes a letter of its own, since a spider that guesses
better tells pages apart that differ in such bytes alone.
"""

from __future__ import annotations

import codecs

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, resolve_encoding

_BYTEWISE = (
    "cp866 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 "
    "iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u mac-roman mac-cyrillic cp874 cp1250 cp1251 cp1252 "
    "cp1253 cp1254 cp1255 cp1256 cp1257 cp1258"
)
#: The encodings of https://encoding.spec.whatwg.org, by the names Python gives them. Python knows others that
#: are no encodings of text (``unicode_escape``, ``idna``), or differ between platforms (``mbcs``).
_KNOWN = frozenset(
    f"utf-8 utf-16 utf-16-be utf-16-le {_BYTEWISE} gb18030 big5hkscs euc_jp iso2022_jp cp932 cp949".split()
)


#: The name of the way in which bytes are kept that cannot be decoded.
_KEEPING = "scrapy-dust: a letter for each byte"


def _letters(error: UnicodeError) -> tuple[str, int]:
    """The letters for the bytes that *error* is about, from U+0100 on, and where to go on."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(0x100 + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_KEEPING, _letters)


def decode(body: bytes, content_type: str | None, encoding: str | None, *, markup: bool) -> tuple[str, str]:
    """The text of *body*, and the encoding in which it was read.

    The first of these decides: a byte-order mark, *encoding*, the charset of *content_type*, and in *markup* the
    document's own declaration.
    """
    marked, mark = read_bom(body)
    if mark is not None and marked in _KNOWN:
        return body[len(mark) :].decode(marked, _KEEPING), marked
    declared = (
        _known(encoding and resolve_encoding(encoding))
        or _known(http_content_type_encoding(content_type))
        or (markup and _known_inside(body))
        or "utf-8"
    )
    return body.decode(declared, _KEEPING), declared


def _known(name: str | None) -> str | None:
    """The encoding *name* if bytes can be decoded by it, else None."""
    return name if name in _KNOWN else None


def _known_inside(body: bytes) -> str | None:
    """The encoding that the document *body* declares; None if it declares none that is known."""
    name = _known(html_body_declared_encoding(body))
    # What could be read as ASCII to find the declaration is not UTF-16, whatever it says.
    return "utf-8" if name is not None and name.startswith("utf-16") else name
