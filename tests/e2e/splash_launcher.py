"""Starts Splash 3.5 from PyPI on Debian's Python and Qt, both newer than it knows. Run it with that Python.

Only WebKit is used; Qt's other engine, which is large, is left out.

Needs: apt-get install python3-pyqt5 python3-pyqt5.qtwebkit; pip install splash==3.5 lupa Pillow, in a virtual
environment with --system-site-packages. Nothing that is installed is changed.
"""

from __future__ import annotations

import json
import os
import sys
from types import ModuleType

# No X server is needed.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import lupa.lua52  # type: ignore[import-not-found]
from PyQt5 import QtCore, sip  # type: ignore[import-not-found]


class _AnyConstant(type(QtCore.QObject)):  # type: ignore[misc]
    """Of classes whose constants are named and never looked at."""

    def __getattr__(cls, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(name)
        return name


class _Absent(ModuleType):
    """A module of QtWebEngine: its classes can be named and inherited from, and are never used."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("_"):
            raise AttributeError(name)
        # It is asked for its version when Splash starts.
        return _AnyConstant(name, (QtCore.QObject,), {"httpUserAgent": lambda self: ""})


for _module in ("QtWebEngineWidgets", "QtWebEngineCore"):
    sys.modules[f"PyQt5.{_module}"] = _Absent(_module)

# Splash's sandbox is written for Lua 5.2, and lupa would take its latest.
sys.modules["lupa"] = lupa.lua52
# It was a package of its own.
sys.modules["sip"] = sip


class QTimer(QtCore.QTimer):  # type: ignore[misc]
    """Python no longer makes integers of the floats that Splash gives."""

    def start(self, *milliseconds: float) -> None:
        super().start(*map(int, milliseconds))


QtCore.QTimer = QTimer

_loads = json.loads


def loads(text: str | bytes, *args: object, encoding: str | None = None, **more: object) -> object:
    """Python's has no ``encoding`` any more."""
    return _loads(text, *args, **more)  # type: ignore[arg-type]


json.loads = loads

if __name__ == "__main__":
    from splash.server import main  # type: ignore[import-not-found]

    sys.argv[1:1] = ["--ip", "127.0.0.1", "--disable-xvfb", "--disable-browser-caches"]
    sys.argv += ["--browser-engines", "webkit"]
    main()
