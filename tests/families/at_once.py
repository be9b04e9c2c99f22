"""Families of which a person sees at once that one rule says it all."""

from __future__ import annotations

from collections.abc import Callable

from tests.families.drafting import Draft, Web


def numbered_names(draft: Draft) -> Web:
    """A parameter that does not matter, with the number of the part of the page in its name."""
    folder, before, after = draft.words(3)
    draft.take("//h1/text()", "//p/text()")
    for number, thing in enumerate(draft.words(draft.chance.randint(28, 36)), draft.chance.randint(3, 60)):
        path = f"/{folder}/{thing}"
        text = draft.prose(90, thing)
        for value in ("", *range(1, draft.chance.randint(3, 6))):
            query = f"?{before}{number}_{after}={value}" if value else ""
            draft.add(path + query, thing, (thing, text), draft.html(f"<h1>{thing}</h1><p>{text}</p>"))
    return draft.web()


def path_or_parameter(draft: Draft) -> Web:
    """Pages of lists by a parameter, beside which a number in the path does not matter; without it, the number does."""
    folder, page, name = draft.words(3)
    numbers = range(1, 5)
    draft.take("//h1/text()", "//li/text()")

    def add(path: str, *shown: object) -> None:
        entries = [draft.prose(6, *shown, n) for n in range(10)]
        items = "".join(f"<li>{entry}</li>" for entry in entries)
        title = str(shown[0])
        draft.add(path, shown, (title, " | ".join(entries)), draft.html(f"<h1>{title}</h1><ul>{items}</ul>"))

    for thing in draft.words(draft.chance.randint(10, 11)):
        for number in numbers:
            add(f"/{folder}/{thing}/{page}/{number}/", thing, "overview", number)
            for other in numbers:
                add(f"/{folder}/{thing}/{page}/{other}/?{name}={number}", thing, number)
    return draft.web()


def cut_ids(draft: Draft) -> Web:
    """Ids in full and cut to their first characters."""
    folder = draft.word()
    draft.take("//h1/text()", "//p/text()")
    short = draft.chance.choice([7, 8, 12])
    for thing in draft.words(draft.chance.randint(30, 40)):
        full = f"{draft.chance.getrandbits(160):040x}"
        text = draft.prose(90, thing)
        for one in (full, full[:short]):
            draft.add(f"/{folder}/{one}", thing, (thing, text), draft.html(f"<h1>{thing}</h1><p>{text}</p>"))
    return draft.web()


def login_with_state(draft: Draft) -> Web:
    """A log-in page with where to go back to, and a token that is new with each link."""
    folder, where, back, state, user = draft.words(5)
    draft.take("//h1/text()")
    title, text = draft.word(), draft.prose(30)
    links = []
    for thing in draft.words(draft.chance.randint(40, 60)):
        path = f"/{folder}/{thing}"
        own = f"/{where}?{back}={path}&amp;{state}={draft.chance.getrandbits(64):016x}"
        links.append(path)
        draft.add(
            path,
            thing,
            (thing,),
            draft.html(f'<h1>{thing}</h1><p>{draft.prose(90, thing)}</p><a href="{own}">{title}</a>'),
        )
        form = f'<form action="{own}" method="post"><input name="{user}"></form>'
        draft.add(
            own.replace("&amp;", "&"), "login", (title,), draft.html(f"<h1>{title}</h1><p>{text}</p>{form}")
        )
    return draft.web(links)


AT_ONCE: dict[str, Callable[[Draft], Web]] = {
    family.__name__: family for family in (numbered_names, path_or_parameter, cut_ids, login_with_state)
}
