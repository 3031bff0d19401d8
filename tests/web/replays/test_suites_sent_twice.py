"""The form of a suite, sent twice at the same time."""

from concurrent.futures import ThreadPoolExecutor
from copy import copy
from threading import Barrier

import pytest
from django.db import connection
from django.test import Client

from tests.web.replays.suite_forms import suite_form
from timemachine.core.pure.ids import uuid7
from timemachine.replay.suites.models import Suite, SuiteEvent


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_twice_at_the_same_time_creates_one_suite(operator: Client) -> None:
    browsers = [operator, copy(operator)]
    barrier = Barrier(len(browsers))

    def send(browser: Client, form_id: str) -> tuple[int, str]:
        barrier.wait()
        try:
            sent = browser.post("/suites/new/", suite_form(name=form_id, form_id=form_id, match_q="s1"))
            return sent.status_code, sent["Location"]
        finally:
            connection.close()

    with ThreadPoolExecutor(len(browsers)) as pool:
        for form_id in [str(uuid7()) for _ in range(4)]:
            sent = list(pool.map(send, browsers, [form_id, form_id]))
            assert sent == [(303, f"/suites/{form_id}/")] * 2
    assert Suite.objects.count() == SuiteEvent.objects.count() == 4
