"""How much playback adds to a model call, over HTTP from another process: 1,000 recorded calls of 20 messages and ten tools each.

Baseline in the same run: the same bytes sent to the same server at an address that it does not have, which it reads and refuses.
`CALLS` sets another number.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from bench.common.report import figure, finish
from bench.common.timing import quantile

CALLS = int(os.environ.get("CALLS", "1000"))
MESSAGES, TOOLS, MISSES = 20, 10, 20
PARAGRAPH = "The boundary layer of a flat plate is thin where the flow is laminar. " * 8
COMMAND = str(Path(sys.executable).with_name("timemachine"))


def main() -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "session.jsonl"
        file.write_text("".join(json.dumps(each) + "\n" for each in exported()))
        began = time.perf_counter()
        with served(file) as url, httpx.Client(trust_env=False, timeout=60) as client:
            figure(f"{CALLS:,} recorded calls read", time.perf_counter() - began, "s")
            measure(url, client)


def measure(url: str, client: httpx.Client) -> None:
    """Measure calls that are answered, plain and streamed in turns, and calls that are not in the record."""
    bodies = [json.dumps({**body(number), "stream": number % 2 == 0}).encode() for number in range(CALLS)]
    answered_at, nowhere = f"{url}/v1/chat/completions", f"{url}/v1/none"
    refused, answered = [], []
    for each in bodies:  # in turns, so that both meet the same load
        refused.append(timed(client, nowhere, each, 404))
        answered.append(timed(client, answered_at, each, 200))
    without = ("the same bytes, refused unread", median(refused))
    figure(f"a call of {MESSAGES} messages", median(answered), "ms", against=without)
    figure("of it, playback", median(answered) - median(refused), "ms", most=5)
    figure("95 of 100 calls", quantile(answered, 0.95), "ms", against=("refused", quantile(refused, 0.95)))
    other = json.dumps(body(CALLS)).encode()
    missed = [timed(client, answered_at, other, 409) for _ in range(MISSES)]
    figure(f"the nearest of {CALLS:,} requests", median(missed), "ms")


def timed(client: httpx.Client, url: str, content: bytes, status: int) -> float:
    """Return how many milliseconds a request takes; its answer must have this status."""
    began = time.perf_counter()
    response = client.post(url, content=content)
    took = (time.perf_counter() - began) * 1000
    if response.status_code != status:
        sys.exit(f"{response.status_code}, but {status} was expected: {response.text}")
    return took


@contextmanager
def served(file: Path) -> Iterator[str]:
    """Play the file back in another process; return the address."""
    command = [COMMAND, "proxy", "--playback", str(file), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = (process.stdout or sys.exit("The command says nothing.")).readline()
            yield line.partition("and ")[2].partition(" for")[0]
        finally:
            process.terminate()


def exported() -> Iterator[dict[str, Any]]:
    """Yield the lines of an export."""
    yield {"format": "timemachine-session", "version": 1, "key": "bench", "through": CALLS}
    for number in range(CALLS):
        yield {
            "sequence": number + 1,
            "kind": "llm_call",
            "model": "openai:gpt-x",
            "input": body(number),
            "output": PARAGRAPH,
            "usage": {"input_tokens": 3_000, "output_tokens": 150},
        }


def body(number: int) -> dict[str, Any]:
    """Return a request unlike every other one."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": f"{number}.{n} {PARAGRAPH}"} for n in range(MESSAGES - 1)]
    schema = {"type": "object", "properties": {"query": {"type": "string"}, "most": {"type": "integer"}}}
    tools = [
        {
            "type": "function",
            "function": {"name": f"tool_{n}", "description": PARAGRAPH, "parameters": schema},
        }
        for n in range(TOOLS)
    ]
    system = {"role": "system", "content": PARAGRAPH}
    return {"model": "gpt-x", "temperature": 0, "tools": tools, "messages": [system, *messages]}


if __name__ == "__main__":
    main()
    sys.exit(finish())
