"""Share links that visitors have opened, each with what it shows and what it must not show, by route."""

from collections.abc import Callable
from dataclasses import dataclass

from django.test import Client

from tests.builders import QUESTIONS, compared, recorded_session
from tests.governance.sharing.recorded import FROZEN, recorded, replayed
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.core.pure.content import text_sha256
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import ReplayStep

ONE, THREE, FIVE = (f"local:extractive-{n}" for n in (1, 3, 5))
LARGE = "9" * 30
PAPERS = {"shared_print": [""], "shared_print_style": [""], "shared_certificate": [""]}
type Things = dict[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareCase:
    """A link that a visitor has opened, with what it shows by route, and what it must not show by category and route."""

    visitor: Client
    link: ShareLink
    path: str
    sessions: tuple[Session, ...]
    inside: Things
    outside: dict[str, Things]

    def addresses(self, things: Things) -> list[str]:
        """Return the addresses of these things under this link."""
        formats = address_formats(self.link.public_id)
        return [formats[route](thing) for route, named in things.items() for thing in named]

    @property
    def one_of_each_route(self) -> list[str]:
        """The first address of every route that the link shows."""
        return self.addresses({route: named[:1] for route, named in self.inside.items()})


def address_formats(public_id: str) -> dict[str, Callable[[str], str]]:
    """Return a function per route that formats its address for one thing; a route that is missing here fails a test."""
    return {
        "shared": lambda step: f"/share/{public_id}/{step if step[:1] in ('', '?') else f'?step={step}'}",
        "shared_step": lambda step: f"/share/{public_id}/steps/{step}/",
        "shared_cell": lambda step: f"/share/{public_id}/cells/{step}/",
        "shared_payload": lambda sha256: f"/share/{public_id}/payloads/{sha256}/",
        "shared_image": lambda sha256: f"/share/{public_id}/payloads/{sha256}/images/0",
        "shared_evidence": lambda end: f"/share/{public_id}/evidence.zip{end}",
        "shared_print": lambda end: f"/share/{public_id}/print/{end}",
        "shared_print_style": lambda end: f"/share/{public_id}/print.css{end}",
        "shared_certificate": lambda end: f"/share/{public_id}/certificate/{end}",
    }


def hashes(*texts: str) -> list[str]:
    return [text_sha256(text) for text in texts]


def cells_of(*comparisons: Comparison) -> list[str]:
    steps = ReplayStep.objects.filter(replay__run__comparison__in=comparisons).order_by("id")
    return [str(each) for each in steps.values_list("id", flat=True)]


def session_case(project: Project, other_project: Project) -> ShareCase:
    session = recorded(project, steps=9)
    replayed(session)
    recorded(project, steps=12)
    recorded(other_project, steps=13)
    link, path = shared(project, session, Terms(through_sequence=4))
    return ShareCase(
        visitor=opened(path)[0],
        link=link,
        path=path,
        sessions=(session,),
        inside={
            "shared": ["", "1", "4", "?step=4&tab=state"],
            "shared_payload": hashes(FROZEN),
            "shared_evidence": [""],
            **PAPERS,
        },
        outside={
            "another session": {"shared_payload": hashes("Geheim 12", "Geheim 13")},
            "a later step": {
                "shared": ["5", "9"],
                "shared_payload": hashes("Geheim 9", "Schritt 5"),
                "shared_image": hashes("Geheim 9", "Schritt 5"),
            },
            "a replay of it": {
                "shared_step": ["1", "2", "5", "99"],
                "shared_cell": ["1", "2"],
                "shared_payload": hashes("1901"),
            },
            "nothing": {
                "shared": ["0", "-1", "10", "x", LARGE],
                "shared_payload": ["x", "0" * 64],
                "shared_image": hashes(FROZEN),
            },
        },
    )


def replay_case(project: Project, other_project: Project) -> ShareCase:
    session = recorded(project, steps=9)
    replayed(recorded(project, steps=12))
    replayed(recorded(other_project, steps=13))
    link, path = shared(project, replayed(session))
    return ShareCase(
        visitor=opened(path)[0],
        link=link,
        path=path,
        sessions=(session,),
        inside={
            "shared": [""],
            "shared_step": ["2"],
            "shared_payload": hashes(FROZEN, "1901"),
            "shared_evidence": ["", "?through=9"],
            **PAPERS,
        },
        outside={
            "another session": {"shared_payload": hashes("Geheim 12", "Geheim 13")},
            "a step that it did not repeat": {
                "shared_step": ["1", "3", "9"],
                "shared_payload": hashes("Geheim 9", "Schritt 4"),
            },
            "nothing": {"shared_step": ["99", LARGE], "shared_cell": ["1", "2"], "shared_payload": ["x"]},
        },
    )


def comparison_case(project: Project, other_project: Project) -> ShareCase:
    session, theirs = (recorded_session(each, questions=QUESTIONS[:1]) for each in (project, other_project))
    made, other = (compared(project, [session], ONE, model) for model in (THREE, FIVE))
    of_theirs = compared(other_project, [theirs], ONE, THREE)
    cells = cells_of(made)
    link, path = shared(project, made)
    answer = ReplayStep.objects.get(id=cells[0]).output
    assert answer is not None
    return ShareCase(
        visitor=opened(path)[0],
        link=link,
        path=path,
        sessions=(session,),
        inside={
            "shared": ["", "?show=changed&against=1", "?session=x&after=9"],
            "shared_cell": cells,
            "shared_payload": [answer.sha256],
            "shared_evidence": ["", "?arm=1"],
            **PAPERS,
        },
        outside={
            "another comparison": {"shared_cell": cells_of(other)[-2:]},
            "another project's": {"shared_cell": cells_of(of_theirs)[:2]},
            "a step of the session": {"shared_step": ["1", "2", "3"]},
            "nothing": {
                "shared_cell": ["0", LARGE],
                "shared_payload": [*hashes("never recorded"), "x"],
            },
        },
    )


def evidence_case(project: Project, other_project: Project) -> ShareCase:
    session = recorded(project, steps=9)
    link, path = shared(project, replayed(session), Terms(evidence_only=True))
    return ShareCase(
        visitor=opened(path)[0],
        link=link,
        path=path,
        sessions=(session,),
        inside={
            "shared": ["", "?step=2", "?after=1"],
            "shared_evidence": [""],
            "shared_print_style": [""],
            "shared_certificate": [""],
        },
        outside={
            "a recorded text": {"shared_payload": hashes(FROZEN, "1901", "1894")},
            "a step": {"shared_step": ["1", "2"], "shared_cell": ["1"], "shared_print": [""]},
        },
    )


SHARE_CASES = [session_case, replay_case, comparison_case, evidence_case]
