"""The form of a share link: completed and sent."""

import html
import re

from django.test import Client


def form_at(client: Client, address: str, **fields: str) -> dict[str, str]:
    """Return the data of the form at the address, with some fields filled in."""
    page = client.get(address)
    assert page.status_code == 200, page.text
    found = re.search(r'name="form_id" value="([^"]+)"', page.text)
    assert found
    return {"form_id": found[1], "lifetime": "14", **fields}


def created_at(client: Client, address: str, **fields: str) -> str:
    """Create a link with the form at the address; return the path of the link."""
    page = client.post(address, form_at(client, address, **fields))
    assert page.status_code == 201, page.text
    assert "no-store" in page["Cache-Control"]
    found = re.search(r'id="shown_once"[^>]*value="http://127.0.0.1:8000(/share/[^"]+)"', page.text)
    assert found
    return html.unescape(found[1])
