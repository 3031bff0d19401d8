"""Share links, opened as someone without an account."""

import httpx
from playwright.sync_api import Page


def opened(
    page: Page, api: httpx.Client, target_type: str, target_id: str, *, evidence_only: bool = False
) -> str:
    """Create a share link, open it in the page, and return the address it leads to."""
    body = {"target_type": target_type, "target_id": target_id, "evidence_only": evidence_only}
    page.goto(api.post("/shares", json=body).json()["url"])
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_url("**/share/*/")
    return page.url
