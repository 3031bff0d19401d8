"""Opening links: counted once, limited as the owner chose, and with the same answer for every refusal."""

import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections

from tests.builders import tamper
from tests.governance.sharing.recorded import recorded
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, TimeMachineError, TooManyRequests
from timemachine.governance.sharing.commands.links import create_link, revoke
from timemachine.governance.sharing.commands.opening import (
    GRANT_LIFETIME,
    PassphraseNeeded,
    WrongPassphrase,
    open_link,
)
from timemachine.governance.sharing.models import ShareGrant, ShareLink, ShareMiss
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.pure.token import new_token
from timemachine.governance.sharing.queries import grant_of
from timemachine.recording.sessions.models import Session

ADDRESS = "203.0.113.77"
SENTENCE = "This link does not exist or is no longer valid. Ask the sender for a new one."


def expire(link: ShareLink) -> None:
    ShareLink.objects.filter(pk=link.pk).update(expires_at=now() - timedelta(seconds=1))


def revoked(link: ShareLink) -> None:
    revoke(link, by="Test")


def used_up(link: ShareLink) -> None:
    ShareLink.objects.filter(pk=link.pk).update(max_opens=1, opens=1)


def log_of(link: ShareLink) -> list[str]:
    return list(link.openings.order_by("sequence").values_list("result", flat=True))


def attempts_of(link: ShareLink) -> list[str]:
    """Return the log entries of failed attempts to open it."""
    return list(link.openings.filter(by=None).order_by("sequence").values_list("result", flat=True))


def test_an_opening_is_counted_and_logged_without_the_address(project: Project, session: Session) -> None:
    link, token = create_link(project, session, by="Test")
    open_link(token, address=ADDRESS, browser="Mozilla/5.0 Firefox/145.0")
    link.refresh_from_db()
    line = link.openings.get(by=None)
    assert (link.opens, line.result, line.address, line.browser) == (1, "opened", "203.0.113.0/24", "Firefox")
    assert link.last_open_at is not None


def test_an_opened_link_can_be_read_with_its_grant(project: Project, session: Session) -> None:
    link, token = create_link(project, session, by="Test")
    opened = open_link(token)
    assert grant_of(link.public_id, opened.secret).link == link


def test_a_grant_ends_after_twelve_hours(project: Project, session: Session) -> None:
    _, token = create_link(project, session, by="Test")
    opened = open_link(token)
    assert timedelta(0) <= now() + GRANT_LIFETIME - opened.expires_at < timedelta(minutes=1)
    ShareGrant.objects.update(expires_at=now())
    with pytest.raises(NotFound):
        grant_of(opened.link.public_id, opened.secret)


def test_a_grant_ends_with_its_link(project: Project, session: Session) -> None:
    end = now() + timedelta(minutes=5)
    _, token = create_link(project, session, Terms(expires_at=end), by="Test")
    assert open_link(token).expires_at == end


def revoked_by_an_old_process(link: ShareLink) -> None:
    """Revoke it as code without knowledge of grants would."""
    ShareLink.objects.filter(pk=link.pk).update(revoked_at=now())


@pytest.mark.parametrize("spoil", [expire, revoked, revoked_by_an_old_process])
def test_a_link_that_ends_shows_nothing_more_to_current_visitors(
    project: Project, session: Session, spoil: Callable[[ShareLink], None]
) -> None:
    link, token = create_link(project, session, by="Test")
    opened = open_link(token)
    spoil(link)
    with pytest.raises(NotFound, match=SENTENCE):
        grant_of(link.public_id, opened.secret)


def test_current_visitors_may_continue_when_the_link_no_longer_opens_for_others(
    project: Project, session: Session
) -> None:
    link, token = create_link(project, session, Terms(max_opens=1), by="Test")
    opened = open_link(token)
    with pytest.raises(NotFound):
        open_link(token)
    assert grant_of(link.public_id, opened.secret).link == link


def test_the_grant_of_one_link_does_not_open_another(project: Project, session: Session) -> None:
    (_, one), (other, _) = (create_link(project, session, by="Test") for _ in range(2))
    with pytest.raises(NotFound, match=SENTENCE):
        grant_of(other.public_id, open_link(one).secret)


@pytest.mark.parametrize("cookie", ["", None, "x", "ä", "\x00"])
def test_a_wrong_cookie_opens_nothing(project: Project, session: Session, cookie: str | None) -> None:
    link, token = create_link(project, session, by="Test")
    open_link(token)
    with pytest.raises(NotFound, match=SENTENCE):
        grant_of(link.public_id, cookie)


@pytest.mark.parametrize(
    ("spoil", "reason"), [(expire, "expired"), (revoked, "revoked"), (used_up, "exhausted")]
)
@pytest.mark.parametrize("passphrase", [None, "Käse"])
def test_a_link_that_does_not_open_gives_the_same_answer_for_every_reason_and_logs_it(
    project: Project,
    session: Session,
    spoil: Callable[[ShareLink], None],
    reason: str,
    passphrase: str | None,
) -> None:
    link, token = create_link(project, session, Terms(passphrase=passphrase), by="Test")
    spoil(link)
    with pytest.raises(NotFound, match=SENTENCE):
        open_link(token)
    assert attempts_of(link) == [reason]


def test_a_wrong_secret_is_refused_like_an_unknown_link_and_logged(
    project: Project, session: Session
) -> None:
    link, _ = create_link(project, session, by="Test")
    wrong = str(new_token()).split("_", 2)[2]
    for token in (f"tms_{link.public_id}_{wrong}", str(new_token()), ":token", "", "\x00"):
        with pytest.raises(NotFound, match=SENTENCE):
            open_link(token)
    assert attempts_of(link) == ["wrong_secret"]
    assert not ShareGrant.objects.exists()


def test_a_passphrase_is_requested_only_if_the_secret_is_right(project: Project, session: Session) -> None:
    link, token = create_link(project, session, Terms(passphrase="schöner Käse"), by="Test")
    with pytest.raises(PassphraseNeeded):
        open_link(token)
    with pytest.raises(NotFound):
        open_link(token[:-1] + ("a" if token[-1] != "a" else "b"), "schöner Käse")
    assert attempts_of(link) == ["wrong_secret"]
    assert open_link(token, "schöner Käse").link == link
    link.refresh_from_db()
    assert link.opens == 1


def test_after_five_wrong_passphrases_even_the_right_one_has_to_wait(
    project: Project, session: Session
) -> None:
    link, token = create_link(project, session, Terms(passphrase="Käse"), by="Test")
    for n in range(5):
        with pytest.raises(WrongPassphrase):
            open_link(token, f"Brot {n}")
    with pytest.raises(TooManyRequests) as refused:
        open_link(token, "Käse")
    assert 890 < refused.value.facts["retry_after_seconds"] <= 900
    assert attempts_of(link) == ["wrong_passphrase"] * 5
    tamper("UPDATE tm_share_opening SET at = at - %s::interval", ["15 minutes"])
    assert open_link(token, "Käse").link == link


def test_an_earlier_visitor_is_not_blocked_by_the_attempts_of_others(
    project: Project, session: Session
) -> None:
    link, token = create_link(project, session, Terms(passphrase="Käse"), by="Test")
    auditor, colleague, stranger = "198.51.100.7", "192.0.2.7", "203.0.113.{}"
    open_link(token, "Käse", address=auditor)
    for n in range(5):
        with pytest.raises(WrongPassphrase):
            open_link(token, f"Brot {n}", address=stranger.format(n))
    with pytest.raises(TooManyRequests):
        open_link(token, "Käse", address=stranger.format(99))
    assert open_link(token, "Käse", address=colleague).link == link
    for n in range(5):
        with pytest.raises(WrongPassphrase):
            open_link(token, f"Brot {n}", address="2001:db8::1")
    with pytest.raises(TooManyRequests) as refused:
        open_link(token, "Käse", address="2001:db8:1::1")
    assert 0 < refused.value.facts["retry_after_seconds"] <= 900
    assert attempts_of(link).count("wrong_passphrase") == 10
    for known in (auditor, colleague):
        assert open_link(token, "Käse", address=known).link == link


def test_wrong_passphrases_for_one_link_do_not_block_another(project: Project, session: Session) -> None:
    (_, one), (_, other) = (
        create_link(project, session, Terms(passphrase="Käse"), by="Test") for _ in range(2)
    )
    for _ in range(5):
        with pytest.raises(WrongPassphrase):
            open_link(one, "Brot")
    open_link(other, "Käse")


def test_after_ten_misses_in_a_minute_an_address_has_to_wait(project: Project, session: Session) -> None:
    _, token = create_link(project, session, by="Test")
    for _ in range(10):
        with pytest.raises(NotFound):
            open_link(str(new_token()), address=ADDRESS)
    with pytest.raises(TooManyRequests) as refused:
        open_link(str(new_token()), address=ADDRESS)
    assert 0 < refused.value.facts["retry_after_seconds"] <= 60
    assert open_link(token, address=ADDRESS), (
        "what strangers on the same network guess does not shut out who has the secret"
    )
    ShareMiss.objects.update(at=now() - timedelta(minutes=1))
    with pytest.raises(NotFound):
        open_link(str(new_token()), address=ADDRESS)


def test_after_thirty_wrong_secrets_in_an_hour_no_more_guesses_at_a_link_are_checked(
    project: Project, session: Session
) -> None:
    """The answer does not depend on whether the link exists; visitors with its secret are not affected."""
    link, token = create_link(project, session, by="Test")
    for public_id in (link.public_id, new_token().public_id):
        for n in range(30):
            with pytest.raises(NotFound):
                open_link(f"tms_{public_id}_{new_token().secret}", address=f"198.51.100.{n}")
        with pytest.raises(TooManyRequests) as refused:
            open_link(f"tms_{public_id}_{new_token().secret}", address="198.51.100.99")
        assert 3500 < refused.value.facts["retry_after_seconds"] <= 3600
    assert open_link(token, address="198.51.100.99")
    assert Counter(log_of(link)) == {"created": 1, "wrong_secret": 30, "opened": 1}


def test_one_ipv6_network_counts_as_one_address(db: None) -> None:
    for n in range(10):
        with pytest.raises(NotFound):
            open_link("x", address=f"2001:db8::{n:x}")
    with pytest.raises(TooManyRequests):
        open_link("x", address="2001:db8::ffff")


def test_misses_expire_after_a_day(db: None) -> None:
    ShareMiss.objects.create(origin="198.51.100.1", at=now() - timedelta(days=1, seconds=1))
    with pytest.raises(NotFound):
        open_link("x", address=ADDRESS)
    assert ShareMiss.objects.count() == 1


def test_a_miss_stores_no_address_but_what_is_equal_for_the_same_one(db: None) -> None:
    for address in (ADDRESS, ADDRESS, "203.0.113.78", None):
        with pytest.raises(NotFound):
            open_link("x", address=address)
    one, same, other, unknown = ShareMiss.objects.order_by("at").values_list("origin", flat=True)
    assert one == same != other
    assert re.fullmatch("[0-9a-f]{32}", one or "")
    assert unknown is None


def open_concurrently(
    times: int, token: str, passphrase: str | None = None, address: str | None = None
) -> Counter[str]:
    """Return the results of opening one link this many times at the same moment."""

    def one(_: int) -> str:
        try:
            open_link(token, passphrase, address=address)
        except TimeMachineError as why:
            return why.code
        finally:
            connections.close_all()
        return "opened"

    with ThreadPoolExecutor(max_workers=25) as pool:
        return Counter(pool.map(one, range(times)))


@pytest.mark.django_db(transaction=True)
def test_exactly_one_of_fifty_concurrent_visitors_opens_a_link_limited_to_one() -> None:
    project = Project.objects.create(name="Gleichzeitig")
    link, token = create_link(project, recorded(project), Terms(max_opens=1), by="Test")
    assert open_concurrently(50, token) == {"opened": 1, "share_link_not_valid": 49}
    link.refresh_from_db()
    assert (link.opens, ShareGrant.objects.count()) == (1, 1)
    assert Counter(attempts_of(link)) == {"opened": 1, "exhausted": 49}


@pytest.mark.django_db(transaction=True)
def test_concurrent_passphrase_guesses_get_no_more_than_five_attempts() -> None:
    project = Project.objects.create(name="Gleichzeitig")
    _, token = create_link(project, recorded(project), Terms(passphrase="Käse"), by="Test")
    assert open_concurrently(20, token, "Brot") == {"wrong_passphrase": 5, "too_many_tries": 15}


@pytest.mark.django_db(transaction=True)
def test_concurrent_link_guesses_get_no_more_than_ten_attempts() -> None:
    assert open_concurrently(30, str(new_token()), address=ADDRESS) == {
        "share_link_not_valid": 10,
        "too_many_tries": 20,
    }
