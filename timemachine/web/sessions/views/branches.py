"""Branches: a session, the sessions it branched from, and its own branches, as a tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from timemachine.recording.sessions.branches import Branch, branch_tree
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import of
from timemachine.web.http import page


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A session in the tree: whether it is the first branch of its parent, whether it is the last one, and how many lists end with it."""

    session: Session
    first: bool
    last: bool
    ends: range


@require_safe
def branches(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/branches/`: all branches around the session."""
    session = session_of(of(request).project, id)
    family = branch_tree(session)
    context = {"session": session, "rows": list(_rows(family.branches)), "complete": family.complete}
    return page(request, "sessions/branches.html", context)


def _rows(branches: Sequence[Branch]) -> Iterator[_Row]:
    depths = [branch.depth for branch in branches]
    for branch, before, after in zip(branches, [0, *depths], [*depths[1:], 0], strict=False):
        yield _Row(
            session=branch.session,
            first=branch.depth > before,
            last=branch.depth >= after,
            ends=range(branch.depth - after),
        )
