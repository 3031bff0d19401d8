"""The steps of a session that a filter shows."""

from decimal import Decimal

import pytest

from tests.recording.timeline.conftest import Record
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import parse

pytestmark = pytest.mark.django_db

STEPS = [
    ActionDraft(
        kind="ask",
        model="acme:large",
        agent="planner",
        duration_ms=2_500,
        cost_usd=Decimal("0.02"),
        input="Why null?",
    ),
    ActionDraft(
        kind="tool_call",
        tool="read_file",
        duration_ms=12,
        tags=("io", "two words"),
        metadata={"env": "prod", "customer": {"id": 42, "vip": True}, "a.b": "dotted\x00", "none": None},
        usage=Usage(input_tokens=5),
    ),
    ActionDraft(kind="tool_result", tool="read_file", error_message="A NULL check failed", role="tool"),
    ActionDraft(kind="tool_call", tool="read(.*)", name="odd\x00name", importance=0.9, iteration=2),
    ActionDraft(
        kind="event", layer="sys", significance="decision", usage=Usage(input_tokens=900, output_tokens=200)
    ),
    ActionDraft(
        kind="llm_call",
        model="acme:small",
        usage=Usage(total_tokens=7),
        cost_usd=Decimal("0.000001"),
        metadata={"env": "staging", "1": ""},
    ),
]


@pytest.fixture
def session(record: Record) -> Session:
    record(STEPS, key="another", agent="whole")
    return record(STEPS, agent="whole")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("", [1, 2, 3, 4, 5, 6]),
        ("tool:read_file", [2, 3]),
        ("-tool:read_file", [1, 4, 5, 6]),
        ("tool:read*", [2, 3, 4]),
        ('tool:"read(.*)"', [4]),
        ("tool:*_file,nothing", [2, 3]),
        ("model:acme:small", [6]),
        ("model:acme:*", [1, 6]),
        ("agent:planner", [1]),
        ("agent:whole", [2, 3, 4, 5, 6]),
        ("agent:wh*", [2, 3, 4, 5, 6]),
        ("-agent:whole", [1]),
        ("tag:io", [2]),
        ('tag:"two words"', [2]),
        ("-tag:io", [1, 3, 4, 5, 6]),
        ("metadata:env", [2, 6]),
        ("-metadata:env", [1, 3, 4, 5]),
        ("metadata:env=prod", [2]),
        ("metadata:env=prod,env=staging", [2, 6]),
        ("metadata:env=*g", [6]),
        ("-metadata:env=prod", [1, 3, 4, 5, 6]),
        ("metadata:customer.id=42 metadata:customer.vip=true", [2]),
        ("metadata:customer.id=4", []),
        ("metadata:a.b=dotted*", [2]),
        ("metadata:none", []),
        ("metadata:1=", [6]),
        ("name:odd*", [4]),
        ("role:tool", [3]),
        ("layer:sys,agent", [5]),
        ("significance:decision", [5]),
        ("took:>1s", [1]),
        ("took:<=12ms", [2]),
        ("-took:>1s", [2, 3, 4, 5, 6]),
        ("tokens:>5", [5, 6]),
        ("tokens:>=1.1k", [5]),
        ("tokens:7", [6]),
        ("-tokens:>5", [1, 2, 3, 4]),
        ("cost:<0.01", [6]),
        ("cost:0.02", [1]),
        ("cost:unknown", [5]),
        ("-cost:unknown", [1, 2, 3, 4, 6]),
        ("importance:>0.5", [4, 5]),
        ("iteration:2", [4]),
        ("null", [1, 3]),
        ('"null check"', [3]),
        ("-null", [2, 4, 5, 6]),
        ("step:2-4 kind:tool_call", [2, 4]),
        ("step:>4", [5, 6]),
        ("status:error tool:read_file", [3]),
        ("kind:tool_call,tool_result -status:error", [2, 4]),
        ("100%", []),
        ("a\\", []),
    ],
)
def test_a_filter_shows_the_steps_that_match_all_its_terms(
    session: Session, written: str, shown: list[int]
) -> None:
    found = Action.objects.filter(matching(parse(written)), session=session).order_by("sequence")
    assert list(found.values_list("sequence", flat=True)) == shown
