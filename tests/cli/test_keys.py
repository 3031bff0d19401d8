"""`key create`, `key list` and `key revoke`, against a real server."""

from datetime import timedelta

import pytest

from tests.cli.terminal import Here, Terminal
from timemachine.cli.formatting import local
from timemachine.core.accounts.models import ApiKey
from timemachine.core.pure.clock import now, written

REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("key", "create", "--name", "n", "--scope", "read", "--expires", "soon"), "14d"),
    (("key", "create", "--name", "n", "--scope", "everything"), "read, record, run, share, admin"),
    (("key", "create", "--name", "n", "--scope", ""), "scope"),
    (("key", "create", "--name", " ", "--scope", "read"), "name"),
    (("key", "revoke", "nobody"), "the list of keys"),
    (("key", "revoke", "../sessions"), "names and IDs cannot contain a slash"),
]


def test_a_key_is_shown_once_and_works_at_once(tm: Here) -> None:
    ran = tm.run("key", "create", "--name", "Nachtlauf", "--scope", "read", "--scope", "record,run")
    text, *lines = ran.out.splitlines()
    assert lines[-1] == "Copy this key now. It will not be shown again."
    assert ApiKey.objects.get(name="Nachtlauf").scopes == ["read", "record", "run"]
    assert tm.run("session", "list", TIMEMACHINE_API_KEY=text).code == 0
    assert text not in tm.run("key", "list").out


def test_a_revoked_key_is_refused_by_the_next_command(tm: Here) -> None:
    made = tm.json("key", "create", "--name", "n", "--scope", "read")
    assert tm.run("key", "revoke", made["id"]).out.startswith(f"Key {made['id']} (n) was revoked 20")
    assert "revoked" in tm.refused("session", "list", TIMEMACHINE_API_KEY=made["key"])


def test_keys_are_listed_with_their_state(tm: Here) -> None:
    made = tm.json("key", "create", "--name", "n", "--scope", "read")
    tm.run("key", "revoke", made["id"])
    rows = tm.run("key", "list").out.splitlines()
    assert rows[0].split() == ["id", "name", "scopes", "created", "last", "used", "expires", "state"]
    states = {row.split()[0]: "revoked" in row for row in rows[1:]}
    assert states[made["id"]] is True
    assert list(states.values()).count(False) == 1
    assert all("key" not in each for each in tm.json("key", "list")["items"])


def test_the_list_says_which_keys_expire_soon(tm: Here) -> None:
    for name, expires in (("soon", "13d"), ("later", "15d"), ("past", "1d")):
        tm.run("key", "create", "--name", name, "--scope", "read", "--expires", expires)
    ApiKey.objects.filter(name="past").update(expires_at=now())
    states = {row.split()[1]: row.rstrip() for row in tm.run("key", "list").out.splitlines()[1:]}
    assert states["soon"].endswith("expires soon")
    assert states["later"].endswith("active")
    assert states["past"].endswith("expired")


def test_a_key_expires_after_90_days_by_default(tm: Here) -> None:
    ends = {}
    for name, words in (
        ("quarter", ()),
        ("fortnight", ("--expires", "14d")),
        ("for ever", ("--expires", "never")),
    ):
        ran = tm.run("key", "create", "--name", name, "--scope", "read", *words)
        expiries = [line.split(maxsplit=1)[1] for line in ran.out.splitlines() if line.startswith("expires")]
        ends[name] = ApiKey.objects.get(name=name).expires_at
        end = ends[name]
        assert expiries == ["never" if end is None else local(written(end))]
        assert any(name in row and expiries[0] in row for row in tm.run("key", "list").out.splitlines())
    assert ends["for ever"] is None
    days = [round((end - now()) / timedelta(days=1)) for end in (ends["quarter"], ends["fortnight"]) if end]
    assert days == [90, 14]


def test_an_invalid_request_is_refused_and_creates_no_key(tm: Here) -> None:
    for words, says in REFUSED:
        assert says in tm.refused(*words)


@pytest.mark.parametrize(
    "words", [("key", "create", "--name", "n"), ("key", "create", "--scope", "read"), ("key", "revoke")]
)
def test_wrong_usage_exits_with_2(words: tuple[str, ...], terminal: Terminal) -> None:
    assert terminal.run(*words).code == 2


def test_only_administrators_manage_keys(tm: Here) -> None:
    narrow = tm.key("read", "record", "run", "share")
    for words in (("key", "list"), ("key", "create", "--name", "n", "--scope", "admin")):
        assert "`admin`" in tm.refused(*words, TIMEMACHINE_API_KEY=narrow)
