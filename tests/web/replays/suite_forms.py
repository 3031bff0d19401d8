"""A completed suite form, and the text of the pages of suites."""

import re

from django.test import Client

from timemachine.recording.sessions.models import Session

ONE, THREE = "local:extractive-1", "local:extractive-3"


def suite_form(*sessions: Session, **more: str | list[str]) -> dict[str, str | list[str]]:
    form: dict[str, str | list[str]] = {
        "name": "Nächtlich ☾",
        "sessions": [str(each.id) for each in sessions],
        "kind": "ask",
        "models": ONE,
        "reason": "Regression",
        "repeat": "weekly",
        "weekday": "friday",
        "at": "07:30",
        "timezone": "Europe/Berlin",
        "fail_on": "worse, new failure",
    }
    return form | more


def page(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def words(browser: Client, address: str) -> str:
    """Return the text of a page without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", page(browser, address)).split())
