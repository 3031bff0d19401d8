"""A project with one of everything, and the requests that its operations take, for tests of every route."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from tests.api.conftest import program
from tests.builders import QUESTIONS, compared, recorded_session, replayed
from tests.core.accounts.people import member
from tests.memory.patterns.recorded import failed
from tests.memory.patterns.recorded import read as read_patterns
from tests.memory.patterns.recorded import session_of as session_with
from tests.web.settings.test_second_factor import signed_in, with_app
from timemachine.core.accounts.commands.links import make_sign_in_link
from timemachine.core.accounts.commands.projects import invite
from timemachine.core.accounts.models import BrowserSession, Project, SignInLink
from timemachine.core.payloads.commands import store
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import content_of
from timemachine.evidence.sealing.seals import seal_session
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.knowledge.queries import collection_of
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.importing.worker import hand_in
from timemachine.recording.intake.commands import hand_in as hand_in_file
from timemachine.recording.intake.preparing import HandedIn
from timemachine.recording.sessions.models import Action
from timemachine.replay.judging.models import Judgement
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions

ONE, THREE = "local:extractive-1", "local:extractive-3"
CANARY = "kanarie"
BY_NAME: Final = dict.fromkeys(("sessions", "suites", "redactions", "redaction"), CANARY)
"""What has a key or name of its own, by which addresses can name it too."""
NO_NAMES: Final[Mapping[str, str]] = {}
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FullProject:
    """A project with one of everything: the ids for its addresses, by the part of the address before each."""

    project: Project
    key: str
    browser: Client
    named: dict[str, str]

    def at(self, written: str, names: Mapping[str, str] = NO_NAMES) -> str:
        """Return the address in this project for a route pattern; `names` are used instead of ids."""
        named = {**self.named, **names}
        parts: list[str] = []
        for part in written.split("/"):
            before = parts[-1] if parts else ""
            parts.append(PARAMETER.sub(partial(_value, named, before), part))
        return "/".join(parts)


def _value(named: Mapping[str, str], before: str, found: re.Match[str]) -> str:
    name = found[1] or found[2]
    for known in (f"{before}/{name}", before, name):
        if known in named:
            return named[known]
    raise AssertionError(f"{before}/{found[0]} needs a case here")


def created(answer: Any) -> Any:
    assert answer.status_code in {200, 201, 202}, answer.content
    return answer.json()


@override_settings(
    MODEL_HOSTS_ALLOWED=["127.0.0.1"], PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]
)
def everything_in(project: Project) -> FullProject:
    """Make one of everything in the project, by an administrator who gave a second factor."""
    admin = member(project, "admin", f"{CANARY}@example.org")
    browser = signed_in(with_app(admin.user))
    api = program(project)
    session = recorded_session(project, key=CANARY, questions=QUESTIONS[:1])
    replay = replayed(session, ReplayOptions(audit=True, reason=CANARY))
    seal_session(session.id)
    comparison = compared(project, [session], ONE, THREE)
    cell = ReplayStep.objects.filter(replay__run__comparison=comparison).earliest("id")
    ask = Action.objects.filter(session=session, kind="ask").select_related("input").earliest("sequence")
    assert ask.input is not None
    suite = created(
        api.post("/suites", {"name": CANARY, "sessions": [CANARY], "options": {"audit": True, "reason": "x"}})
    )
    created(api.post(f"/suites/{suite['id']}/runs"))
    source = created(
        api.client.post(
            "/api/collections/handbook/files",
            {"file": SimpleUploadedFile(f"{CANARY}.md", b"# One\n\nText.\n")},
            headers={"Authorization": f"Bearer {api.key}"},
        )
    )["source"]["id"]
    invite(project, email="new@example.org", role="viewer")
    rules = {"detect": ["email"]}
    rule = created(api.post("/patterns/rules", {"sessions": 2, "window": "week"}))["id"]
    for _ in range(2):
        session_with(project, failed(f"the bird {CANARY} did not come home"))
    read_patterns(project)
    created(api.put("/models/keys/openai", {"key": "sk-0123456789abcdefghij"}))
    handbook = collection_of(project, "handbook")
    intake = hand_in_file(handbook, HandedIn(name="a.md", data=b"# Two"), by=CANARY)
    ask_id = str(
        AskUnderWay.objects.create(project=project, question=CANARY, seen_at=now() + timedelta(days=1)).id
    )
    link, token = create_link(project, session, Terms(), by=CANARY)
    named = {
        "patterns": created(api.get("/patterns"))["items"][0]["id"],
        "rules": rule,
        "alerts": created(api.get("/patterns/alerts"))["items"][0]["id"],
        "sessions": str(session.id),
        "replays": str(replay.id),
        "comparisons": str(comparison.id),
        "cells": str(cell.id),
        "suites": suite["id"],
        "runs": "1",
        "sweeps": created(api.post(f"/sessions/{CANARY}/sweeps", {"top_k": [2, 4]}))["sweep_id"],
        "notes": created(api.post(f"/sessions/{CANARY}/notes", {"sequence": 1, "text": CANARY}))["id"],
        "shares": created(api.post("/shares", {"target_type": "session", "target_id": CANARY}))["id"],
        "redactions": created(api.post("/redactions", {"name": CANARY, "rules": rules}))["id"],
        "erasures": created(api.post(f"/sessions/{CANARY}/erasures", {"fields": ["tags"]}))["id"],
        "holds": created(api.post("/holds", {"sessions": [CANARY], "reason": "x"}))["id"],
        "forgettings": created(api.post("/forgettings", {"filter": {"named": CANARY}}))["id"],
        "retention": created(api.post("/retention", {"days": 400}))["id"],
        "checks": created(api.post(f"/sessions/{CANARY}/seal/check"))["id"],
        "keys": created(api.post("/keys", {"name": CANARY, "scopes": ["read"]}))["id"],
        "servers": created(
            api.post("/models/servers", {"name": "linnet", "base_url": "http://127.0.0.1:9/v1"})
        )["name"],
        "collections": "handbook",
        "sources": source,
        "frames": "0",
        "versions": "1",
        "version": "1",
        "steps": str(ask.sequence),
        "actions": str(ask.sequence),
        "payloads": ask.input.sha256,
        "images": "0",
        "export": "timemachine",
        "transcript": "text",
        "form": "csv",
        "members": str(admin.pk),
        "second-factor": str(admin.user.second_factors.get().pk),
        "browsers": BrowserSession.objects.get(user=admin.user).public_id,
        "invitations": str(SignInLink.objects.get(purpose="invite").pk),
        "intakes": str(intake.id),
        "imports": str(hand_in(project, b'{"messages": [{"role": "user"}]}', by=CANARY).id),
        "asks": ask_id,
        "cancel": ask_id,
        "judgements": str(judgement_of(ask).id),
        "signal": "metrics",
        "keys/provider": "openai",
        "sign-in": make_sign_in_link(admin.user),
        "token": token,
        "public_id": link.public_id,
    }
    named["redaction"] = named["redactions"]
    return FullProject(project=project, key=api.key, browser=browser, named=named)


def judgement_of(ask: Action) -> Judgement:
    prompt = content_of([["user", CANARY]])
    return Judgement.objects.create(
        project_id=ask.project_id,
        session_id=ask.session_id,
        action=ask,
        sequence=ask.sequence,
        model="test:judge",
        state="done",
        prompt_template="1",
        system_prompt="Judge.",
        prompt_sha256=prompt.sha256,
        prompt_id=store(ask.project_id, [prompt])[prompt],
        answer_sha256=prompt.sha256,
        sentences=[{"number": 1, "text": CANARY}],
        created_by=CANARY,
    )


# The body that an operation requires before it looks at its caller or at what its address names; `{sessions}` names the session.
QUESTION, FIND, MODEL = {"question": "?"}, {"query": "?"}, {"model": ONE}
_TARGET = {"target_type": "session", "target_id": "{sessions}"}
_RUNS = {"sessions": ["{sessions}"], "arms": [{"model": ONE}, {"model": THREE}], "reason": "x"}
_MARK = {"session": "x", "sequence": 2, "arm": 1, "verdict": "better"}
_RULES = {"detect": ["email"]}
_BODIES: dict[str, dict[str, Any]] = {
    "POST /project/": {"project": "{project}"},
    "GET /compare/steps/": {"a": "{sessions}", "b": "{sessions}", "left": 1, "right": 1},
    "POST /api/sessions": {"name": "x", "collection": "handbook"},
    "POST /api/sessions/{session_id}/actions": {"kind": "event"},
    "POST /api/sessions/{session_id}/put": {"text": "x"},
    "POST /api/sessions/{session_id}/find": FIND,
    "POST /api/sessions/{session_id}/ask": QUESTION,
    "POST /api/sessions/{session_id}/continue": {"from": 1, "model": ONE},
    "POST /api/sessions/{session_id}/checkpoints": {"name": "x"},
    "POST /api/sessions/{session_id}/actions/{sequence}/judgements": MODEL,
    "GET /api/sessions/{session_id}/actions/{sequence}/judgements/estimate": MODEL,
    "POST /api/sessions/{session_id}/notes": {"sequence": 1, "text": "x"},
    "POST /api/sessions/{session_id}/proposals": {"sequence": 1, "rule": "decision", "accept": False},
    "GET /api/sessions/{session_id}/state": {"at": "1"},
    "POST /api/sessions/{session_id}/erasures": {"fields": ["output"]},
    "GET /api/compare": {"a": "{sessions}", "b": "{sessions}"},
    "POST /api/comparisons": _RUNS,
    "POST /api/comparisons/estimate": _RUNS,
    "POST /api/comparisons/{comparison_id}/marks": _MARK,
    "POST /api/comparisons/{comparison_id}/judgements": MODEL,
    "GET /api/comparisons/{comparison_id}/judgements/estimate": MODEL,
    "POST /api/compressions": {"older_than_days": 9},
    "PUT /api/compressions/rule": {"days": 9},
    "POST /api/collections": {"name": "new"},
    "POST /api/collections/{name}/find": FIND,
    "POST /api/collections/{name}/ask": QUESTION,
    "POST /api/collections/{name}/embedding": {"model": "wordllama"},
    "POST /api/import": {"messages": [{"role": "user"}]},
    "POST /api/import/lines": {"format": "codex", "lines": []},
    "GET /api/search": {"q": "years"},
    "POST /api/recall": {"queries": ["years"]},
    "POST /api/patterns/rules": {"sessions": 5, "window": "day"},
    "POST /api/shares": _TARGET,
    "POST /api/shares/preview": _TARGET,
    "PATCH /api/shares/policy": {"longest_days": 9},
    "POST /api/redactions": {"name": "new", "rules": _RULES},
    "POST /api/redactions/test": {"text": "x", "rules": _RULES},
    "PATCH /api/redactions/{redaction_id}": {"rules": _RULES},
    "PATCH /api/evidence/anchors": {"witness": "https://8.8.8.8/"},
    "POST /api/erasures/{erasure_id}/confirm": {"reason": "x"},
    "POST /api/holds": {"sessions": ["{sessions}"], "reason": "x"},
    "POST /api/forgettings": {"filter": {"named": "x"}},
    "POST /api/retention": {"days": 500},
    "POST /api/suites": {"name": "new", "sessions": ["{sessions}"]},
    "POST /api/models/test": MODEL,
    "PUT /api/models/keys/{provider}": {"key": "sk-0123456789abcdefghij"},
    "POST /api/models/servers": {"name": "finch", "base_url": "https://8.8.8.8/v1"},
    "PATCH /api/answer-cache": {"on": True},
    "POST /api/ground": {"answer": "x", "context": ["x"]},
    "POST /api/keys": {"name": "new", "scopes": ["read"]},
}


def body_of(method: str, route: str, full: FullProject) -> dict[str, Any]:
    """Return the body that the operation requires, or the query of a GET."""
    text = json.dumps(_BODIES.get(f"{method} {route}", {}))
    body: dict[str, Any] = json.loads(
        text.replace("{sessions}", full.named["sessions"]).replace("{project}", str(full.project.pk))
    )
    return body
