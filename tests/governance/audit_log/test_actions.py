"""The actions of the audit log and their words."""

import re
from pathlib import Path
from typing import get_args

from timemachine.core.audit.pure.actions import WORDS, Action

DOCUMENT = Path(__file__).parents[3] / "docs" / "audit-log.md"


def test_every_action_has_words_and_every_subject_is_documented() -> None:
    assert set(get_args(Action.__value__)) == WORDS.keys()
    rows = re.findall(r"^\| (`[^|]*`) \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    named = {each for row in rows for each in re.findall(r"`(\w+)`", row)}
    assert named == {action.partition(".")[0] for action in WORDS}
