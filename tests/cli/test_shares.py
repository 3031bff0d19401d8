"""share create, list and revoke, against a real server."""

from datetime import datetime, timedelta

import pytest

from tests.cli.terminal import Here
from timemachine.base.clock import now
from timemachine.recording.commands import append, start_session
from timemachine.recording.draft import ActionDraft
from timemachine.recording.models import Session
from timemachine.replay.commands import launch
from timemachine.replay.options import ReplayOptions
from timemachine.sharing.models import ShareLink

REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("share", "create", "nobody"), "There is no session 'nobody'"),
    (("share", "create", "s1", "--expires", "soon"), "14d"),
    (("share", "create", "s1", "--expires", "0m"), "expired already"),
    (("share", "create", "s1", "--expires", "2020-01-01T00:00:00Z"), "expired already"),
    (("share", "create", "s1", "--expires", "60w"), "at most"),
    (("share", "create", "s1", "--max-opens", "0"), "max_opens"),
    (("share", "create", "s1", "--passphrase", ""), "passphrase"),
    (("share", "create", "s1", "--redaction", "nope"), "There is no redaction profile 'nope'"),
    (("share", "revoke", "nobody"), "the list of links"),
    (("share", "list", "--after", "x"), "`after`"),
]


def session(tm: Here, key: str = "s1") -> Session:
    """A session with something in it to share and to replay."""
    made = start_session(tm.project, name="n", key=key, by="test")
    append(made.id, [ActionDraft(kind="message", output="hi"), ActionDraft(kind="find", input="q")])
    return made


def test_a_link_withholds_by_a_profile(tm: Here) -> None:
    session(tm)
    ran = tm.run("share", "create", "s1", "--redaction", "built-in")
    assert "withholds   Secrets and personal data, version 1" in ran.out.splitlines(), ran


def test_a_link_shows_its_address_once(tm: Here) -> None:
    session(tm)
    ran = tm.run(
        "share", "create", "s1", "--label", "für die Prüferin", "--max-opens", "3", "--passphrase", "p q r"
    )
    assert ran.code == 0, ran
    address, *lines = ran.out.splitlines()
    kept = ShareLink.objects.get()
    assert "/share/" in address
    assert (kept.label, kept.max_opens, kept.passphrase_hash is not None) == ("für die Prüferin", 3, True)
    assert "opens       3 times" in lines
    assert "passphrase  asked for" in lines
    assert lines[-1] == "This address is shown once; keep it now."
    assert address not in tm.run("share", "list").out


@pytest.mark.parametrize(("end", "days"), [(None, 14), ("30m", 0), ("2d", 2), ("3w", 21)])
def test_a_link_ends_when_it_was_told_to(end: str | None, days: int, tm: Here) -> None:
    session(tm)
    before = now()
    made = tm.json("share", "create", "s1", *([] if end is None else ["--expires", end]))
    lifetime = datetime.fromisoformat(made["expires_at"]) - before
    assert abs(lifetime - timedelta(days=days)) < timedelta(hours=1)


def test_a_replay_is_shared_by_its_id_and_a_session_by_its_id_or_key(tm: Here) -> None:
    made = session(tm)
    replay = launch(made, ReplayOptions(audit=True, reason="why"), by="test")
    targets = [
        tm.json("share", "create", named)["target_type"] for named in (str(replay.id), str(made.id), "s1")
    ]
    assert targets == ["replay", "session", "session"]


def test_a_session_whose_key_looks_like_an_id_is_shared_too(tm: Here) -> None:
    made = session(tm, key="0192f0c1-2c2b-7cc0-8d9e-1a2b3c4d5e6f")
    assert tm.json("share", "create", made.key)["target_id"] == str(made.id)


def test_links_are_listed_and_revoked(tm: Here) -> None:
    assert tm.run("share", "list").out == "There is no share link yet.\n"
    session(tm)
    first, second = (tm.json("share", "create", "s1", "--label", label)["id"] for label in ("one", "two"))
    ran = tm.run("share", "revoke", first)
    assert ran.out.startswith(f"Share link {first} is revoked since 20")
    assert [(each["id"], each["state"]) for each in tm.json("share", "list")["items"]] == [
        (second, "active"),
        (first, "revoked"),
    ]
    rows = tm.run("share", "list").out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [second, first]
    page = tm.run("share", "list", "--limit", "1")
    assert second in page.out
    assert first in tm.run("share", "list", "--after", page.err.split()[-1]).out


def test_what_cannot_be_is_refused_and_makes_no_link(tm: Here) -> None:
    session(tm)
    for words, says in REFUSED:
        assert says in tm.refused(*words)


def test_sharing_needs_the_scope_for_it(tm: Here) -> None:
    session(tm)
    assert "`share`" in tm.refused("share", "create", "s1", TIMEMACHINE_API_KEY=tm.key("read"))
