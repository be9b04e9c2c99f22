"""A department's site, grown over years: home pages, courses, and files that somebody copied.

True: ``/~name`` is ``/people/name``; ``index.html`` and the last slash may be left out; ``.htm`` is ``.html``.
False: one lecture for another, one course for another, one exercise for another although all are of one size to the
byte and short enough that the template is most of them. Copies of files follow no rule. Some ``~`` are gone: 404.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from dusty_web.prose import drawing, names, title
from dusty_web.site import Answer, Asked, Chrome, Content, Fails, Shows, Site

_BASE = "http://www.academic.test"
_PEOPLE = 22
_COURSES = ("044101", "046332")
_LECTURES = 12
_EXERCISES = 10
_DEPARTMENTS = (
    "admissions",
    "library",
    "seminars",
    "alumni",
    "research",
    "labs",
    "news",
    "staff",
    "theses",
    "travel",
)
_COPIES = 8
#: How many of the people have a home page under ``/people`` only.
_GONE = 2
_INDEX = re.compile(r"/index\.html?$")


class Academic(Site):
    domain = "academic.test"
    hosts = ("www.academic.test",)
    disallowed = "/cgi-bin/"
    disallowed_links = (f"{_BASE}/cgi-bin/finger?who=root", f"{_BASE}/cgi-bin/stats")
    chrome = Chrome(
        name="Faculty of Electrical Engineering",
        navigation=(
            ("Home", f"{_BASE}/"),
            ("Admissions", f"{_BASE}/dept/admissions/"),
            ("Library", f"{_BASE}/dept/library/"),
        ),
        small_print="""The opinions on personal pages are those of their authors and not of the faculty. Pages are
        maintained by those named on them; the webmaster maintains the rest, when there is time. Office hours are on
        Sundays and Wednesdays from ten to twelve unless a note on the door says otherwise. Visitors reach us by bus
        from the central station and should allow an hour. Printed copies of technical reports can be ordered at the
        secretariat on the fourth floor. Last checked for broken links in the spring semester.""",
    )

    def build(self) -> Iterator[Content]:
        people = self._people()
        parts = [*(f"people/{name}" for name in people), *(f"courses/{c}" for c in _COURSES)]
        parts += [f"dept/{name}" for name in _DEPARTMENTS]
        yield Content(
            id="academic/front",
            title="Faculty of Electrical Engineering",
            topic="academic",
            home=f"{_BASE}/",
            also=(f"{_BASE}/index.html",),
            lists=(*(f"academic/{part}" for part in parts), *(f"academic/copy/{n}" for n in range(_COPIES))),
        )
        for number, name in enumerate(people):
            yield from self._person(name, gone=number < _GONE)
        for course in _COURSES:
            yield from self._course(course)
        for name in _DEPARTMENTS:
            yield self._folder(f"dept/{name}", name.capitalize(), lists=())
        for number in range(_COPIES):
            yield self._copy(number)

    def _people(self) -> list[str]:
        return names(drawing(self.seed, "people"), _PEOPLE)

    def _copy(self, number: int) -> Content:
        name = f"{drawing(self.seed, 'copy', number).getrandbits(32):08x}"
        return Content(
            id=f"academic/copy/{number}",
            title="Lecture notes",
            topic="academic",
            home=f"{_BASE}/files/{name}.html",
            copy_of=f"academic/courses/{_COURSES[number % 2]}/lect-{number + 2}",
            is_leaf=True,
        )

    def _person(self, name: str, *, gone: bool) -> Iterator[Content]:
        parts = [f"people/{name}/{part}" for part in ("pubs", "cv")]
        home = self._folder(f"people/{name}", f"Home page of {name.capitalize()}", tuple(parts))
        pages = [self._page(part, f"{name.capitalize()}: {part.rpartition('/')[2]}") for part in parts]
        for content in (home, *pages):
            tilde = tuple(url.replace("/people/", "/~") for url in (content.home, *content.also))
            yield replace(content, failing=tilde) if gone else replace(content, also=(*content.also, *tilde))

    def _course(self, course: str) -> Iterator[Content]:
        here = f"courses/{course}"
        lectures = [f"{here}/lect-{n}" for n in range(1, _LECTURES + 1)]
        exercises = [f"{here}/ex-{n}" for n in range(1, _EXERCISES + 1)]
        yield self._folder(here, f"Course {course}", (*lectures, *exercises))
        for lecture in lectures:
            yield self._page(lecture, "Lecture notes")
        for exercise in exercises:
            yield replace(self._page(exercise, "Exercise"), words=25, size=3400)

    def _folder(self, path: str, heading: str, lists: tuple[str, ...]) -> Content:
        url = f"{_BASE}/{path}"
        return Content(
            id=f"academic/{path}",
            title=heading,
            topic="academic",
            home=f"{url}/",
            also=(url, f"{url}/index.html"),
            lists=tuple(f"academic/{listed}" for listed in lists),
            words=drawing(self.seed, path).randrange(220, 420),
        )

    def _page(self, path: str, heading: str) -> Content:
        draw = drawing(self.seed, path)
        return Content(
            id=f"academic/{path}",
            title=heading if "lect" in path or "ex-" in path else title(draw, "academic"),
            topic="academic",
            home=f"{_BASE}/{path}.html",
            also=(f"{_BASE}/{path}.htm",),
            words=draw.randrange(280, 600),
        )

    def answer(self, asked: Asked) -> Answer:
        path = asked.path
        if path.startswith("/~"):
            if path[2:].split("/")[0] in self._people()[:_GONE]:
                return Fails(404)
            path = path.replace("/~", "/people/", 1)
        path = _INDEX.sub("/", path)
        if path.startswith("/files/"):
            return self._copied(path)
        is_page = path.endswith((".html", ".htm"))
        found = f"academic{path.rpartition('.')[0] if is_page else path.removesuffix('/') or '/front'}"
        content = self.contents.get(found)
        return Shows(found) if content and is_page == content.home.endswith(".html") else Fails(404)

    def _copied(self, path: str) -> Answer:
        copies = {content.home: content.id for content in self.contents.values() if content.copy_of}
        found = copies.get(_BASE + path)
        return Shows(found) if found else Fails(404)
