"""Share links, and visitors without an account who open them."""

from django.test import Client

from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.queries import Shareable

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


def opened(path: str, **fields: str) -> tuple[Client, str]:
    """Open a link as a visitor without an account; return the visitor and the path of the page."""
    visitor = Client(headers={"user-agent": FIREFOX}, REMOTE_ADDR="203.0.113.77")
    assert visitor.get(path).status_code == 200
    sent = visitor.post(path, fields)
    assert sent.status_code == 303, sent.text
    return visitor, sent["Location"]


def shared(project: Project, target: Shareable, terms: Terms = Terms()) -> tuple[ShareLink, str]:  # noqa: B008
    """Create a link to the target; return it and its path."""
    link, token = create_link(project, target, terms, by="anna@example.org")
    return link, f"/share/{token}"
