"""How much the recording proxy adds to model calls: against direct calls to the same provider, in the same run.

The provider is a process that streams an answer as soon as it is asked. First one call after the other, direct and through the proxy in turns, with a
short request and one of a long agent loop; then twice 200 streams at once; then again with the recorder's server away and its spool unusable.
Every body must be the same, byte by byte. `CALLS` sets the number of calls.
"""

import asyncio
import hashlib
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

import httpx

from bench.common.report import figure, finish
from bench.common.timing import quantile
from timemachine.client.local_server import Answer, LocalServer, Request

CALLS = int(os.environ.get("CALLS", "300"))
AT_ONCE, TOKENS, PAUSE = 200, 50, 0.02
PARAGRAPH = "The boundary layer of a flat plate is thin where the flow is laminar. " * 8
COMMAND = str(Path(sys.executable).with_name("timemachine"))
PATH = "/v1/chat/completions"


def main() -> None:
    with TemporaryDirectory() as folder, provider() as direct:
        with proxied(direct, Path(folder) / "spool") as through:
            for messages, words in ((1, "a short request"), (200, "a request of 200 messages")):
                one_by_one(direct, through, messages, words)
            for words in ("at once", "more at once"):  # then with connections that were kept
                asyncio.run(at_once(direct, through, words))
        blocked = Path(folder) / "blocked"
        blocked.touch()
        with proxied(direct, blocked) as through:
            failed = asyncio.run(streams(through))[1]
            figure(f"{AT_ONCE} streams without a recorder, failed", failed, "calls", most=0)


def one_by_one(direct: str, through: str, messages: int, words: str) -> None:
    """Measure calls in turns, so that both meet the same load."""
    plain, added = [], []
    with httpx.Client(trust_env=False, timeout=60) as client:
        for number in range(CALLS):
            content = body(number, messages)
            plain.append(first_part(client, direct, content))
            added.append(first_part(client, through, content))
    assert [each[1] for each in plain] == [each[1] for each in added], "The bodies differ."
    first, other = ([each[0] for each in found] for found in (added, plain))
    figure(f"first token, {words}", median(first), "ms", against=("direct", median(other)))
    figure(f"added by the proxy, {words}", median(first) - median(other), "ms", most=5)
    figure(f"95 of 100, {words}", quantile(first, 0.95), "ms", against=("direct", quantile(other, 0.95)))


def first_part(client: httpx.Client, url: str, content: bytes) -> tuple[float, str]:
    """Return the milliseconds to the first part of an answer, and the hash of the whole."""
    began, first, seen = time.perf_counter(), 0.0, hashlib.sha256()
    with client.stream(
        "POST", url + PATH, content=content, headers={"Authorization": "Bearer none-at-all"}
    ) as response:
        for part in response.iter_raw():
            first = first or (time.perf_counter() - began) * 1000
            seen.update(part)
    if response.status_code != 200:
        sys.exit(f"{response.status_code} from {url}")
    return first, seen.hexdigest()


async def at_once(direct: str, through: str, words: str) -> None:
    """Measure many streams at the same time."""
    plain, added = await streams(direct), await streams(through)
    assert plain[2] == added[2], "The bodies differ."
    figure(f"{AT_ONCE} streams {words}, failed", added[1], "calls", most=0)
    figure(f"first token of {AT_ONCE} {words}", median(added[0]), "ms", against=("direct", median(plain[0])))
    figure(f"all of {AT_ONCE} {words}", added[3], "s", against=("direct", plain[3]))


async def streams(url: str) -> tuple[list[float], int, set[str], float]:
    """Return the times to the first part, how many failed, the hashes of the bodies, and the seconds of all."""
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(trust_env=False, timeout=120, limits=limits) as client:
        began = time.perf_counter()
        found = await asyncio.gather(*(stream(client, url, number) for number in range(AT_ONCE)))
    took = time.perf_counter() - began
    return [each[0] for each in found if each], found.count(None), {each[1] for each in found if each}, took


async def stream(client: httpx.AsyncClient, url: str, number: int) -> tuple[float, str] | None:
    began, first, seen = time.perf_counter(), 0.0, hashlib.sha256()
    try:
        async with client.stream("POST", url + PATH, content=body(number, 20, slow=True)) as response:
            async for part in response.aiter_raw():
                first = first or (time.perf_counter() - began) * 1000
                seen.update(part)
    except httpx.HTTPError:
        return None
    return (first, seen.hexdigest()) if response.status_code == 200 else None


def body(number: int, messages: int, *, slow: bool = False) -> bytes:
    """Return a request unlike every other one."""
    asked = [
        {"role": ("user", "assistant")[n % 2], "content": f"{number}.{n} {PARAGRAPH}"}
        for n in range(messages)
    ]
    return json.dumps(
        {"model": "gpt-x", "stream": True, "user": "slow" if slow else "", "messages": asked}
    ).encode()


async def answered(request: Request, answer: Answer) -> None:
    """Stream an answer at once, or with pauses if the request says so."""
    asked = b"".join([part async for part in request.body])
    pause = PAUSE if b'"user": "slow"' in asked else 0
    answer.begin(200, [(b"Content-Type", b"text/event-stream"), (b"Transfer-Encoding", b"chunked")])
    for token in range(TOKENS):
        choice = {"index": 0, "delta": {"content": f" {token}"}}
        chunk = {"object": "chat.completion.chunk", "model": "gpt-x", "choices": [choice]}
        await answer.send(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        await asyncio.sleep(pause)
    end = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    await answer.send(b"data: " + json.dumps(end).encode() + b"\n\n")
    await answer.send(b"data: [DONE]\n\n")
    await answer.end()


@contextmanager
def provider() -> Iterator[str]:
    """Run the provider in another process; return its address."""
    command = [sys.executable, "-m", "bench.proxy", "provider"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield (process.stdout or sys.exit("No output.")).readline().strip()
        finally:
            process.terminate()


@contextmanager
def proxied(direct: str, spool: Path) -> Iterator[str]:
    """Run the proxy in another process, with its recordings in this folder; return its address."""
    command = [COMMAND, "proxy", "--port", "0", "--openai", f"{direct}/v1", "--anthropic", direct]
    away = {
        "TIMEMACHINE_URL": "http://127.0.0.1:9",
        "TIMEMACHINE_API_KEY": "none",
        "TIMEMACHINE_SPOOL": str(spool),
    }
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | away) as process:
        try:
            line = (process.stdout or sys.exit("The command says nothing.")).readline()
            yield line.partition("and ")[2].partition(" for")[0]
        finally:
            process.terminate()


if __name__ == "__main__":
    if sys.argv[1:] == ["provider"]:
        server = LocalServer(answered)
        print(server.url, flush=True)
        server.run()
        sys.exit(0)
    main()
    sys.exit(finish())
