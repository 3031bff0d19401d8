"""One of many who record into one session: a program of the standard library alone, so that a killed one is soon replaced.

    writer.py URL KEY SESSION NAME NOTEBOOK

It sends numbered actions, some in batches, and notes what was acknowledged in its notebook, which is on the disk before it goes on. Where
a notebook says that another was here before, it goes on after the last one acknowledged: what that one had under way is sent once more.
"""

import http.client
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BATCHES = (1, 1, 1, 4)


def main(url: str, key: str, session: str, name: str, notebook: str) -> None:
    number = acknowledged(notebook)
    place = urlsplit(url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=30)
    with Path(notebook).open("a") as notes:
        while True:
            size = BATCHES[number % len(BATCHES)]
            names = [f"{name}-{each}" for each in range(number, number + size)]
            sequences = sent(connection, key, f"/api/sessions/{session}/actions", names)
            notes.write(json.dumps(dict(zip(names, sequences, strict=True))) + "\n")
            notes.flush()
            os.fsync(notes.fileno())
            number += size


def acknowledged(notebook: str) -> int:
    """How many actions those before had acknowledged."""
    return sum(len(json.loads(line)) for line in whole_lines(notebook))


def whole_lines(notebook: str) -> list[str]:
    """What was noted; a line that a kill cut off is taken away."""
    path = Path(notebook)
    text = path.read_text() if path.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return whole.splitlines()


def sent(connection: http.client.HTTPConnection, key: str, path: str, names: list[str]) -> list[int]:
    """The sequences of actions, sent until they are taken. Every other request tells itself from others by ids, the rest by a key."""
    own_ids = int(names[0].rpartition("-")[2]) % 2 == 0
    actions = [{"kind": "event", "name": each, **({"id": each} if own_ids else {})} for each in names]
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    if not own_ids:
        headers["Idempotency-Key"] = names[0]
    while True:
        try:
            connection.request("POST", path, json.dumps({"actions": actions}), headers)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            time.sleep(0.2)
            continue
        if answer.status == 201:
            found: dict[str, Any] = json.loads(body)
            return list(found["sequences"])
        if answer.status not in (429, 503):
            sys.exit(f"{answer.status} {body!r}")
        time.sleep(float(answer.headers["Retry-After"]) * random.uniform(0.5, 1.0))


if __name__ == "__main__":
    main(*sys.argv[1:])
