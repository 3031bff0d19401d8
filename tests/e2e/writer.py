"""One of many programs that record into one session. It uses only the standard library, so that it starts quickly.

    writer.py URL KEY SESSION NAME NOTEBOOK

It sends numbered actions, some in batches, and writes what was acknowledged to its notebook on disk before it continues.
With the notebook of a killed writer it continues after the last acknowledged action: an unanswered request is repeated.
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
    """Return how many actions earlier writers had acknowledged."""
    return sum(len(json.loads(line)) for line in complete_lines(notebook))


def complete_lines(notebook: str) -> list[str]:
    """Return the lines of the notebook, after removing a line that a kill cut off."""
    path = Path(notebook)
    text = path.read_text() if path.exists() else ""
    complete = text[: text.rfind("\n") + 1]
    if complete != text:
        path.write_text(complete)
    return complete.splitlines()


def sent(connection: http.client.HTTPConnection, key: str, path: str, names: list[str]) -> list[int]:
    """Send actions until they are accepted; return their sequences. Half the requests use action ids, the others a key."""
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
