"""The navigation: five sections, their pages, and where the visitor is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.http import HttpRequest
from django.template import Context
from django.urls import reverse

from timemachine.core.pure.numbers import counted
from timemachine.memory.patterns.queries import count_unseen_alerts
from timemachine.replay.suites.queries import failing_count
from timemachine.web.template_library import register


@dataclass(frozen=True, slots=True)
class Place:
    """A page of the navigation: its URL name, its words, and the beginnings of the paths that belong to it."""

    name: str
    words: str
    under: tuple[str, ...]

    def is_around(self, path: str) -> bool:
        return path.startswith(self.under)


@dataclass(frozen=True, slots=True)
class Section:
    """A group of pages. Its link opens the first one."""

    words: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Alert:
    """A number of things on a page that need attention, with its look and its words."""

    page: str
    look: str
    number: int
    words: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A link as shown: `current` is `page` on the page itself, `true` on a page that belongs to it, else empty."""

    words: str
    address: str
    current: str
    alert: Alert | None = None


@dataclass(frozen=True, slots=True)
class Navigation:
    """The five sections, and the name of the one that the visitor is in."""

    sections: tuple[Entry, ...]
    here: str


SECTIONS: Final = (
    Section(
        "Sessions",
        (
            Place(
                "sessions",
                "Sessions",
                ("/sessions/", "/compare/", "/import/", "/imports/", "/training/", "/erasures/"),
            ),
        ),
    ),
    Section(
        "Experiments",
        (
            Place("replays", "Replays", ("/replays/",)),
            Place("comparisons", "Comparisons", ("/comparisons/",)),
            Place("sweeps", "Sweeps", ("/sweeps/",)),
            Place("suites", "Suites", ("/suites/",)),
        ),
    ),
    Section(
        "Insights",
        (Place("patterns", "Patterns", ("/patterns/",)), Place("costs", "Costs", ("/costs/",))),
    ),
    Section("Knowledge", (Place("collections", "Collections", ("/collections/", "/intakes/")),)),
    Section(
        "Sharing",
        (
            Place("shares", "Links", ("/shares/",)),
            Place("evidence_key", "Evidence key and log", ("/evidence/", "/settings/evidence-")),
            Place("share_policy", "Policy", ("/settings/sharing/",)),
        ),
    ),
)
TABS: Final = {
    "session": (
        ("timeline", "Timeline", ("work",)),
        ("transcript", "Transcript", ()),
        ("session_replays", "Replays", ("replay_form", "continue_form", "sweep_form", "where", "trial")),
        ("significance", "Highlights", ("session_notes",)),
        ("session_evidence", "Evidence & links", ("share_form", "erase_fields")),
    ),
    "replay": (
        ("replay", "Result", ("replay_step",)),
        ("replay_evidence", "Evidence & links", ("share_replay_form",)),
    ),
    "comparison": (
        ("comparison", "Result", ("comparison_cell",)),
        ("comparison_evidence", "Evidence & links", ("share_comparison_form",)),
    ),
}
"""The pages of a session, a replay or a comparison: URL name, words, and the URL names of the pages that belong to it."""
SETTINGS: Final = ("/settings/", "/forgettings/", "/holds/")
SEARCHES: Final = ("/search/", "/recall/")


@register.simple_tag(takes_context=True)
def navigation(context: Context) -> Navigation:
    """Return the sections as seen from the current page; without alerts on pages that make no queries."""
    path = _path(context)
    here = _section_at(path)
    alerts = {} if context.get("without_alerts") else {alert.page: alert for alert in _alerts(context)}
    return Navigation(
        sections=tuple(_of_section(each, path, alerts, inside=each is here) for each in SECTIONS),
        here=here.words if here else _elsewhere(path),
    )


@register.simple_tag(takes_context=True)
def sub_pages(context: Context) -> tuple[Entry, ...]:
    """Return the pages of the current section, if it has several."""
    path = _path(context)
    here = _section_at(path)
    return tuple(_of_place(each, path) for each in here.places) if here and len(here.places) > 1 else ()


@register.simple_tag(takes_context=True)
def in_settings(context: Context) -> bool:
    """Return whether the page belongs to the settings."""
    path = _path(context)
    return path.startswith(SETTINGS) and _section_at(path) is None


@register.simple_tag(takes_context=True)
def object_tabs(context: Context, of: str, id_: UUID | str) -> tuple[Entry, ...]:
    """Return the pages of a session, a replay or a comparison."""
    request = context.get("request")
    match = request.resolver_match if isinstance(request, HttpRequest) else None
    here = match.url_name if match else None
    return tuple(
        Entry(words, reverse(name, args=[id_]), "page" if here == name else "true" if here in within else "")
        for name, words, within in TABS[of]
    )


def _path(context: Context) -> str:
    request = context.get("request")
    return request.path if isinstance(request, HttpRequest) else ""


def _section_at(path: str) -> Section | None:
    return next((each for each in SECTIONS if _is_around(each, path)), None)


def _is_around(section: Section, path: str) -> bool:
    return any(each.is_around(path) for each in section.places) or (path == "/" and section is SECTIONS[0])


def _elsewhere(path: str) -> str:
    if path.startswith(SEARCHES):
        return "Search"
    return "Settings" if path.startswith(SETTINGS) else "Pages"


def _of_section(section: Section, path: str, alerts: dict[str, Alert], *, inside: bool) -> Entry:
    address = reverse(section.places[0].name)
    alert = next((alerts[each.name] for each in section.places if each.name in alerts), None)
    return Entry(section.words, address, _current(address, path, inside=inside), alert)


def _of_place(place: Place, path: str) -> Entry:
    address = reverse(place.name)
    return Entry(place.words, address, _current(address, path, inside=place.is_around(path)))


def _current(address: str, path: str, *, inside: bool) -> str:
    if path == address:
        return "page"
    return "true" if inside else ""


def _alerts(context: Context) -> Iterator[Alert]:
    project = context.get("project")
    if not project:
        return
    if failing := failing_count(project):
        yield Alert("suites", "bad", failing, f"{counted(failing, 'suite')} with a failed scheduled run")
    if unseen := count_unseen_alerts(project):
        yield Alert("patterns", "warn", unseen, counted(unseen, "recurring pattern"))
