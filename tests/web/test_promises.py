"""What pages promise holds today: there is no evidence to download yet, and no page speaks of any."""

import re
from pathlib import Path

from timemachine.web.account_forms import SCOPE_CHOICES

ROOT = Path(__file__).parents[2]
_UNSEEN = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL)


def test_no_page_speaks_of_evidence_that_nobody_can_download() -> None:
    said = {path.name: _UNSEEN.sub(" ", path.read_text()) for path in (ROOT / "templates").rglob("*.html")}
    assert [name for name, words in said.items() if "evidence" in words.lower()] == []
    assert [label for _, label in SCOPE_CHOICES if "evidence" in label] == []
    assert "the proof" not in (ROOT / "README.md").read_text()
