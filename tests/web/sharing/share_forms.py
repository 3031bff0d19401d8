"""The form of a share link, filled in and sent."""

import html
import re

from django.test import Client


def form_at(client: Client, address: str, **said: str) -> dict[str, str]:
    """What the form at that address sends, with some of it filled in."""
    page = client.get(address)
    assert page.status_code == 200, page.text
    found = re.search(r'name="form_id" value="([^"]+)"', page.text)
    assert found
    return {"form_id": found[1], "lifetime": "14", **said}


def created_at(client: Client, address: str, **said: str) -> str:
    """The path of a link that was created by the form at that address."""
    page = client.post(address, form_at(client, address, **said))
    assert page.status_code == 201, page.text
    assert "no-store" in page["Cache-Control"]
    found = re.search(r'id="shown_once"[^>]*value="http://127.0.0.1:8000(/share/[^"]+)"', page.text)
    assert found
    return html.unescape(found[1])
