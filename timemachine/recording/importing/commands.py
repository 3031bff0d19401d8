"""Import the file of another tool: all of its sessions or none, with a report that accounts for every line."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Progress
from timemachine.core.pure.errors import Conflict
from timemachine.core.pure.numbers import counted
from timemachine.recording.importing.copies import last_of, link_branches, place_branches, with_copies
from timemachine.recording.importing.exporting import AT_ONCE, exact
from timemachine.recording.importing.growth import more_tokens
from timemachine.recording.importing.joining import with_other_part
from timemachine.recording.importing.linking import linked
from timemachine.recording.importing.models import FileImport
from timemachine.recording.importing.pure.contents import Contents
from timemachine.recording.importing.pure.formats.timemachine import draft_of
from timemachine.recording.importing.pure.registry import FORMATS, choose_format
from timemachine.recording.importing.pure.report import ImportReportOut, SessionDraft
from timemachine.recording.importing.pure.run_costs import with_cost_of_run
from timemachine.recording.importing.queries import ImportCounts, imports_of
from timemachine.recording.importing.traces import gather_traces, in_session_of_trace
from timemachine.recording.otel.messages import add_messages
from timemachine.recording.otel.sums import settle_sums
from timemachine.recording.sessions.branches import Parent
from timemachine.recording.sessions.commands import (
    MOST_ACTIONS,
    append,
    describe,
    end_imported,
    known_ids,
    locked,
    start_session,
)
from timemachine.recording.sessions.deletions import deleted_before
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import KEY, LONGEST_WORD
from timemachine.recording.timeline.schemas.actions import with_everything
from timemachine.text.redaction.pure.marks import FIELD, erased


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession(ImportCounts):
    """A session of the file, with its counts. `copies` has the number of its copied steps by the key of the session in which
    they happened, None if that is unknown. `last` is the sequence of the last step of the file, 0 without one.
    """

    session: Session
    copies: Counter[str | None]
    last: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDone:
    """The sessions that an import recorded, and its report."""

    sessions: tuple[ImportedSession, ...]
    report: ImportReportOut


def import_file(
    project: Project,
    data: Contents,
    *,
    by: str,
    format_name: str | None = None,
    filename: str | None = None,
    progress: Progress | None = None,
) -> ImportDone:
    """Import a file. Importing the same file again adds nothing; a file that has grown adds what is new.

    `progress` is updated while the actions are recorded.

    Raises `InvalidInput` if the file is not a transcript or the format is unknown, and `Conflict` if a session with
    the same key was not imported from this format. Nothing is recorded then.
    """
    name = choose_format(format_name, data, filename)
    parsed = FORMATS[name].read(data)
    drafts = [within_limits(draft) for draft in parsed.sessions]
    progress = progress or Progress()
    progress.total = sum(len(draft.actions) for draft in drafts)
    with transaction.atomic():
        sessions = tuple(import_session(project, draft, name, by, progress) for draft in drafts)
    report = parsed.report
    if cut := sum(before != after for before, after in zip(parsed.sessions, drafts, strict=True)):
        report.notes.append(
            f"A name, agent, user or tag of {counted(cut, 'session')} was cut to {LONGEST_WORD:,} characters."
        )
    report.notes += _notes_on_copies(sessions)
    report.notes += [
        f"The session {draft.key!r} was imported before from a file without times. Its start time stays unknown because its record is sealed. "
        "To get the times, delete the session and import the file again."
        for draft, here in zip(drafts, sessions, strict=True)
        if here.session.is_undated and draft.started_at is not None
    ]
    return ImportDone(sessions=sessions, report=report)


def _notes_on_copies(sessions: Sequence[ImportedSession]) -> Iterator[str]:
    """Yield how many steps repeat another file of their session, and how many happened in other sessions."""
    origins: Counter[str | None] = Counter()
    repeated = 0
    for each in sessions:
        repeated += each.copies[each.session.key]
        origins.update({key: number for key, number in each.copies.items() if key != each.session.key})
    if repeated:
        yield f"{counted(repeated, 'step')} copied from another file of the same session. They are shown as copied and not included in totals."
    if origins:
        yield f"{counted(origins.total(), 'step')} copied from {_origin_words(origins)}. They are shown as copied and not included in totals."


def _origin_words(origins: Collection[str | None]) -> str:
    if len(origins) > 1:
        return f"{len(origins):,} other sessions"
    (only,) = origins
    return "an earlier session" if only is None else f"the session {only}"


def within_limits(session: SessionDraft) -> SessionDraft:
    """Return the session with its name, agent, user and tags cut to the allowed length."""
    return replace(
        session,
        name=session.name[:LONGEST_WORD],
        agent=session.agent and session.agent[:LONGEST_WORD],
        user=session.user and session.user[:LONGEST_WORD],
        tags=tuple(tag[:LONGEST_WORD] for tag in session.tags),
    )


def import_session(
    project: Project, draft: SessionDraft, format_name: str, by: str, progress: Progress
) -> ImportedSession:
    """Record what is new of a session, in the open transaction. Raises `Conflict` if its key is taken."""
    draft = with_other_part(project, in_session_of_trace(project, draft, format_name), format_name)
    is_new = not Session.objects.filter(project=project, key=draft.key).exists()
    deleted = deleted_before(project, draft.key).first() if is_new else None
    copies = with_copies(project, draft, format_name)
    draft = copies.draft
    session = _get_or_start(project, draft, format_name, by)
    if session.imported_as is None:
        raise Conflict(
            f"A session with the key {draft.key!r} was recorded here, so it cannot be replaced by an import. Delete it first, then import the file.",
            code="key_taken",
        )
    if session.imported_as != format_name:
        raise Conflict(
            f"A session with the key {draft.key!r} was imported from another format ({session.imported_as}). Importing this file "
            "could record the same steps twice. Import a file in that format, or delete the session first.",
            code="key_taken",
        )
    gather_traces(session, draft, by=by)
    before = locked([session.id])[session.id].last_sequence
    draft = linked(session, draft)
    known = _already_recorded(session, draft) if draft.numbered else 0
    progress.done += known
    if draft.traces is not None:
        actions = _with_settled_sums(session, draft.actions)
    elif draft.numbered:
        actions = draft.actions
    else:
        actions = with_cost_of_run(draft.actions)
        actions = (*actions, *(() if is_new else more_tokens(session, actions)))
    corrections = len(actions) - len(draft.actions)
    are_priced = draft.numbered or draft.traces is not None
    last = known
    for start in range(known, len(actions), MOST_ACTIONS):
        batch = actions[start : start + MOST_ACTIONS]
        recorded = append(
            session.id, batch if are_priced else priced(batch), imported=True, as_it_is=draft.numbered
        )
        last = max(last, *recorded)
        progress.done += len(batch)
    ended = end_imported(session.id, ended=draft.ended_at)
    if draft.ids_are_global:
        link_branches(ended, copies.relatives)
    place_branches(ended, ids_are_global=draft.ids_are_global)
    if ended.name in draft.earlier_names:
        describe(ended, name=draft.name)
    added = ended.last_sequence - before - corrections
    return ImportedSession(
        session=ended,
        actions=len(draft.actions),
        already_there=len(draft.actions) - added,
        deleted_before=deleted,
        deleted_turns=0 if is_new else ended.erased_turns.count(),
        copies=Counter(each.copied_from["session"] for each in draft.actions if each.copied_from is not None),
        last=last,
    )


def _with_settled_sums(session: Session, actions: Sequence[ActionDraft]) -> Sequence[ActionDraft]:
    """Return the spans as they are recorded, then corrections of spans that an earlier file brought."""
    known = known_ids([(session.id, str(each.id)) for each in actions])
    new = [each for each in actions if (session.id, str(each.id)) not in known]
    told = add_messages({session.id: new})[session.id]
    made = settle_sums({session.id: priced(told)})[session.id]
    settled = {each.id: each for each in made}
    return [*(settled.pop(each.id, each) for each in actions), *settled.values()]


def _get_or_start(project: Project, draft: SessionDraft, format_name: str, by: str) -> Session:
    """Return the session with this key, started if it does not exist.

    If another import is starting it at the same time, that import has finished when this returns.
    """
    there = Session.objects.filter(project=project, key=draft.key)
    if (found := there.first()) is not None:
        return found
    try:
        return start_session(
            project,
            name=draft.name,
            key=draft.key,
            agent=draft.agent,
            user=draft.user,
            metadata=draft.metadata,
            tags=draft.tags,
            started_at=draft.started_at,
            by=by,
            imported_as=format_name,
            parent=_parent(project, draft),
        )
    except Conflict:
        found = there.first()
        if found is None:
            raise
        return found


def _parent(project: Project, draft: SessionDraft) -> Parent | None:
    """Return the session that the file names as its origin, and the step at which it branched off.

    The origin is a session, the key of one that is not here yet, or the id of one that was deleted.
    """
    if draft.forked_from is None:
        return draft.forked_from_deleted, draft.forked_at
    if draft.forked_from == draft.key:
        return None
    found = Session.objects.of(project).filter(key=draft.forked_from).first()
    if found is None and not KEY.fullmatch(draft.forked_from):
        return None
    if found is None or draft.forked_at is not None:
        return found or draft.forked_from, draft.forked_at
    copied = [each.copied_from for each in draft.actions if each.copied_from is not None]
    return found, last_of(found, [each["step"] for each in copied if each["session"] == found.key])


def _already_recorded(session: Session, draft: SessionDraft) -> int:
    """Return how many of the draft's actions the session already has, counted from the first. Locks it against
    appending.

    Raises `Conflict` (`key_taken`) if one of its actions differs.
    """
    held = Session.objects.select_for_update().get(id=session.id)
    known = min(held.last_sequence, len(draft.actions))
    deleted = set(held.erased_turns.values_list("sequence", flat=True))
    if deleted:  # other steps may have repeated what was deleted
        deleted |= set(held.erased_fields.filter(replay=None).values_list("sequence", flat=True))
    for after in range(0, known, AT_ONCE):
        some = Action.objects.filter(
            session=session, sequence__gt=after, sequence__lte=min(after + AT_ONCE, known)
        )
        for action in with_everything(some.order_by("sequence")):
            if action.sequence in deleted:
                continue
            if _without_hashes(draft_of(exact(action))) != _without_hashes(
                draft.actions[action.sequence - 1]
            ):
                raise Conflict(
                    f"A session with the key {draft.key!r} was imported before, and its step {action.sequence:,} differs from this file.",
                    code="key_taken",
                )
    return known


def _without_hashes(action: ActionDraft) -> ActionDraft:
    """Return the action without the hashes of texts that are present: an erasure removes a hash and leaves a text."""
    found = action.retrieval
    if found is None:
        return action
    hits = tuple(hit if hit.text is None else replace(hit, sha256=None, unhashed=False) for hit in found.hits)
    return replace(action, retrieval=replace(found, hits=hits))


def erase_from_imports(session: Session) -> None:
    """Erase file names and report texts from the imports of a session that is about to be erased. Counts stay."""
    for found in imports_of(session):
        report = found.report
        if report is not None:
            skipped = [{"line": each["line"], "reason": erased(FIELD)} for each in report["skipped"]]
            report = report | {"skipped": skipped, "notes": []}
        FileImport.objects.filter(pk=found.pk).update(name=erased(FIELD), report=report, error_message=None)
