"""How much disk an action takes, before and after it is indexed for search.

An agent's steps: a model call of 2 kB, a tool call of 150 bytes and its result of 1.5 kB, each text once. Baseline in the same run:
the same actions as JSON, as they are sent. With `TABLES=1`, it also prints what each table and index takes.
"""

import json
import os
import random
import sys
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import connection

from bench.common.django_ready import analyze, new_project
from bench.common.report import figure, finish
from timemachine.memory.search import indexing
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft

SESSIONS, STEPS = 30, 999
VOCABULARY = 20_000
CALL, RESULT = 1_000, 1_500
_SIZES = """
SELECT c.relname, pg_relation_size(c.oid) + coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0), c.relkind = 'i'
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'i')
"""


def main() -> None:
    chance = random.Random(7)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(VOCABULARY)]
    weights = [1 / (rank + 10) for rank in range(VOCABULARY)]
    project = new_project()
    empty, sent = _disk(), 0
    for number in range(SESSIONS):
        session = start_session(project, name=f"run {number}", by="bench")
        actions = list(_actions(chance, words, weights))
        sent += len(json.dumps({"actions": actions}))
        append(session.id, [ActionDraft(**each) for each in actions])
    raw = ("the same as JSON", sent / SESSIONS / STEPS)
    recorded = _disk()
    figure("an action recorded", (recorded - empty) / SESSIONS / STEPS, "bytes", against=raw, ratio_most=1.3)
    _index(project.id)
    figure("an action recorded and indexed", (_disk() - empty) / SESSIONS / STEPS, "bytes", against=raw)
    if os.environ.get("TABLES"):
        _print_tables()


def _actions(chance: random.Random, words: list[str], weights: list[float]) -> Iterator[dict[str, Any]]:
    def text(characters: int) -> str:
        return " ".join(chance.choices(words, weights, k=characters // 7))

    for step in range(STEPS // 3):
        call = f"call-{step}"
        yield {
            "kind": "llm_call", "model": "openai:gpt-4o-mini", "input": text(CALL), "output": text(CALL),
            "duration_ms": 812,
        }  # fmt: skip
        yield {"kind": "tool_call", "tool": "read_file", "call_id": call, "input": {"path": text(100)}}
        yield {"kind": "tool_result", "tool": "read_file", "call_id": call, "output": text(RESULT)}


def _index(project_id: UUID) -> None:
    while indexing.index_new_steps(project_id):
        pass


def _disk() -> int:
    """Return the bytes of all tables with what is stored outside of them, and of all indexes."""
    return sum(size for _, size, _ in _tables())


def _tables() -> list[tuple[str, int, bool]]:
    analyze("VACUUM ANALYZE")
    with connection.cursor() as cursor:
        cursor.execute(_SIZES)
        return [(name, size, is_index) for name, size, is_index in cursor.fetchall()]


def _print_tables() -> None:
    for name, size, is_index in sorted(_tables(), key=lambda each: -each[1])[:25]:
        print(f"{size / SESSIONS / STEPS:8,.0f} bytes an action  {'index' if is_index else 'table'} {name}")


if __name__ == "__main__":
    main()
    sys.exit(finish())
