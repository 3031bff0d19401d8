"""`share create`, `share list` and `share revoke`, against a real server."""

from datetime import datetime, timedelta

import pytest

from tests.builders import tamper
from tests.cli.terminal import Here
from timemachine.client.client import Client
from timemachine.client.server import Server
from timemachine.core.pure.clock import now
from timemachine.governance.sharing import preview
from timemachine.governance.sharing.models import ShareLink
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.continuation import commands as continuations
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules

REFUSED: list[tuple[tuple[str, ...], str]] = [
    (
        ("share", "create", "nobody"),
        "no session with the id or key 'nobody', and no replay or comparison",
    ),
    (("share", "create", "s1", "--expires", "soon"), "14d"),
    (("share", "create", "s1", "--expires", "0m"), "already have expired"),
    (("share", "create", "s1", "--expires", "2020-01-01T00:00:00Z"), "already have expired"),
    (("share", "create", "s1", "--expires", "60w"), "at most"),
    (("share", "create", "s1", "--max-opens", "0"), "A link can have 1 to 1,000,000 views"),
    (("share", "create", "s1", "--through-step", "9"), "has no step 9; its last step is 2"),
    (("share", "log", "nobody"), "the list of links"),
    (("share", "policy", "--longest-days", "0"), "valid for 1 to 366 days"),
    (("share", "create", "s1", "--passphrase", ""), "passphrase"),
    (("share", "create", "s1", "--redaction", "nope"), "There is no redaction profile 'nope'"),
    (("share", "revoke", "nobody"), "the list of links"),
    (("share", "list", "--after", "x"), "`after`"),
]


def session(tm: Here, key: str = "s1") -> Session:
    """A session with steps to share and to replay."""
    made = start_session(tm.project, name="n", key=key, by="test")
    append(made.id, [ActionDraft(kind="message", output="hi"), ActionDraft(kind="find", input="q")])
    return made


def test_a_link_withholds_what_its_profile_names(tm: Here) -> None:
    session(tm)
    ran = tm.run("share", "create", "s1", "--redaction", "built-in")
    assert "withholds   Secrets and personal data, version 4" in ran.out.splitlines(), ran


def test_a_link_without_a_profile_reports_what_the_built_in_one_finds(
    tm: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "MOST_SECONDS_WHEN_CREATED", 600.0)
    made = session(tm)
    assert "built-in profile" not in tm.run("share", "create", "s1").out
    append(made.id, [ActionDraft(kind="message", output="Write to ada@example.com")])
    output = tm.run("share", "create", "s1").out
    assert (
        "warning     Anyone with the link can read 1 place that the built-in profile would withhold."
        in output
    )
    assert (
        "built-in profile would withhold"
        not in tm.run("share", "create", "s1", "--redaction", "built-in").out
    )


def test_the_address_is_printed_even_if_the_search_for_sensitive_text_fails(tm: Here) -> None:
    session(tm)
    assert tamper("UPDATE tm_action SET retrieval = '[1]'", []) == 2
    ran = tm.run("share", "create", "s1")
    assert ran.code == 0, ran
    address, *lines = ran.out.splitlines()
    assert "/share/" in address
    assert [line for line in lines if line.startswith("warning")] == [
        "warning     The search failed, so it is unknown what the built-in profile would withhold from this link."
    ]


def test_a_link_shows_its_address_once(tm: Here) -> None:
    session(tm)
    ran = tm.run(
        "share", "create", "s1", "--label", "für die Prüferin", "--max-opens", "3", "--passphrase", "p q r"
    )
    assert ran.code == 0, ran
    address, *lines = ran.out.splitlines()
    stored = ShareLink.objects.get()
    assert "/share/" in address
    assert (stored.label, stored.max_opens, stored.passphrase_hash is not None) == (
        "für die Prüferin",
        3,
        True,
    )
    assert "views       at most 3" in lines
    assert "passphrase  required" in lines
    assert lines[-1] == "Copy this link now. It will not be shown again."
    assert address not in tm.run("share", "list").out


@pytest.mark.parametrize(("end", "days"), [(None, 14), ("30m", 0), ("2d", 2), ("3w", 21)])
def test_a_link_expires_at_the_given_time(end: str | None, days: int, tm: Here) -> None:
    session(tm)
    before = now()
    made = tm.json("share", "create", "s1", *([] if end is None else ["--expires", end]))
    lifetime = datetime.fromisoformat(made["expires_at"]) - before
    assert abs(lifetime - timedelta(days=days)) < timedelta(hours=1)


def test_a_replay_is_shared_by_id_and_a_session_by_id_or_key(tm: Here) -> None:
    made = session(tm)
    replay = launch(made, ReplayOptions(audit=True, reason="why"), by="test")
    targets = [
        tm.json("share", "create", named)["target_type"] for named in (str(replay.id), str(made.id), "s1")
    ]
    assert targets == ["replay", "session", "session"]


def test_a_session_whose_key_looks_like_an_id_is_shared_too(tm: Here) -> None:
    made = session(tm, key="0192f0c1-2c2b-7cc0-8d9e-1a2b3c4d5e6f")
    assert tm.json("share", "create", made.key)["target_id"] == str(made.id)


def test_an_unknown_profile_is_refused_with_the_known_ones(tm: Here) -> None:
    session(tm)
    make_profile(
        tm.project, "No birds", read_rules({"patterns": [{"name": "bird", "pattern": "wren"}]}), by="x"
    )
    refused = tm.refused("share", "create", "s1", "--redaction", "nosuch")
    assert "Profiles: built-in (“Secrets and personal data”), “No birds”." in refused
    assert "/settings/redaction/" in refused


def test_previewing_a_link_creates_nothing(tm: Here) -> None:
    session(tm)
    append(Session.objects.get().id, [ActionDraft(kind="message", output="to jo@example.org")])
    words = ("share", "create", "s1", "--redaction", "built-in", "--preview")
    lines = tm.run(*words).out.splitlines()
    assert lines[0] == "Preview only. No link was created."
    assert "withheld   1 place" in lines
    assert "e-mail     1" in lines
    assert lines[-1] == "step 3, output  to [withheld: e-mail]"
    assert "through    step 2" in tm.run(*words, "--through-step", "2").out.splitlines()
    assert (
        "steps      3, without their text"
        in tm.run("share", "create", "s1", "--preview", "--evidence-only").out.splitlines()
    )
    assert tm.json(*words)["withheld"] == 1
    assert not ShareLink.objects.exists()


def test_the_log_of_a_link_shows_who_created_and_revoked_it(tm: Here) -> None:
    session(tm)
    made = tm.json("share", "create", "s1", "--through-step", "1")
    assert (made["through_sequence"], tm.json("share", "revoke", made["id"])["state"]) == (1, "revoked")
    lines = tm.run("share", "log", made["id"]).out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["2", "1"]
    assert ("revoked" in lines[1], "created" in lines[2]) == (True, True), lines
    assert lines[3].startswith("The log is intact: 2 lines, last SHA-256 ")
    page = tm.run("share", "log", made["id"], "--limit", "1")
    rest = tm.json("share", "log", made["id"], "--after", page.err.split()[-1])
    assert [each["sequence"] for each in rest["items"]] == [1]
    tamper("UPDATE tm_share_opening SET by = 'nobody' WHERE sequence = %s", [1])
    assert "Line 1 of the log does not match: " in tm.run("share", "log", made["id"]).out


def test_an_administrator_sets_the_sharing_policy_of_the_project(tm: Here) -> None:
    assert "share links       allowed" in tm.run("share", "policy").out.splitlines()
    changed = tm.run("share", "policy", "--forbid", "--require-passphrase", "--longest-days", "7").out
    assert [line.split("  ")[-1].strip() for line in changed.splitlines()] == [
        "turned off",
        "required for every link",
        "optional",
        "7 days",
    ]
    eased = {"forbidden": False, "passphrase_required": True, "profile_required": False, "longest_days": None}
    assert tm.json("share", "policy", "--allow", "--any-days") == eased
    assert tm.run("share", "policy", "--any-days", "--longest-days", "7").code == 2
    assert "required for every link" in tm.run("share", "policy", "--require-profile").out
    session(tm)
    assert "`built-in`" in tm.refused("share", "create", "s1", "--passphrase", "p q r")
    assert tm.json("share", "policy", "--no-profile") == eased
    assert "`admin`" in tm.refused("share", "policy", "--forbid", TIMEMACHINE_API_KEY=tm.key("share"))
    with Client(Server(url=tm.url, key=tm.key("share"))) as client:
        found = client.shares.policy_changes(limit=1)
    assert (found["items"][0]["facts"] or {})["now"] == eased
    assert found["log"]["lines"] == 4


def test_links_are_listed_and_revoked(tm: Here) -> None:
    assert (
        tm.run("share", "list").out == "No share links yet. Create one with `timemachine share create ID`.\n"
    )
    session(tm)
    first, second = (tm.json("share", "create", "s1", "--label", label)["id"] for label in ("one", "two"))
    ran = tm.run("share", "revoke", first)
    assert ran.out.startswith(f"Link {first} was revoked 20")
    assert [(each["id"], each["state"]) for each in tm.json("share", "list")["items"]] == [
        (second, "active"),
        (first, "revoked"),
    ]
    rows = tm.run("share", "list").out.splitlines()[1:]
    assert "session n  nothing    none" in rows[0]
    assert [row.split()[0] for row in rows] == [second, first]
    page = tm.run("share", "list", "--limit", "1")
    assert second in page.out
    assert first in tm.run("share", "list", "--after", page.err.split()[-1]).out


def test_an_invalid_request_is_refused_and_creates_no_link(tm: Here) -> None:
    session(tm)
    for words, says in REFUSED:
        assert says in tm.refused(*words)


def test_sharing_needs_the_share_scope(tm: Here) -> None:
    session(tm)
    assert "`share`" in tm.refused("share", "create", "s1", TIMEMACHINE_API_KEY=tm.key("read"))


def test_a_link_of_a_continuation_names_the_session_with_its_steps(tm: Here) -> None:
    recorded = session(tm)
    append(recorded.id, [ActionDraft(kind="llm_call", input="What is due?", output="Nothing.")])
    replay = continuations.launch(
        recorded, ReplayOptions(continue_from=3, use_model="local:extractive-1"), by="test"
    )
    assert replay.branch is not None
    made = tm.run("share", "create", str(replay.id)).out
    assert f"Its other steps are in the session {replay.branch.key}; share that session to show them." in made
