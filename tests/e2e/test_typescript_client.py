"""The TypeScript client records, reads and replays with a running product, in Node and in a browser."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, Route

from clients.generate_typescript import FOLDER, TYPES, document, generate
from tests.e2e.product import OwnProduct, Product
from tests.embedded.homes import copied
from tests.embedded.machine import Machine

RECORDING = """
import { TimeMachine } from "timemachine-client";
const tm = new TimeMachine();
const s = tm.session("Stopped", { key: "stopped" });
for (let number = 0; number < 300; number += 1) {
  await s.record("agent", number);
  if (number === 100) { await s.flush(); console.log("stop"); }
  if (number > 100) await new Promise((resolve) => setTimeout(resolve, 5));
}
if (!(await s.flush({ timeout: 120_000 })) || !(await s.end())) process.exit(3);
"""
PAGE = """<!doctype html><title>waiting</title>
<script type="importmap">{"imports": {"openapi-fetch": "/packed/node_modules/openapi-fetch/dist/index.mjs"}}</script>
<script type="module">
import { TimeMachine } from "/packed/dist/browser.js";
const tm = new TimeMachine({ apiKey: location.hash.slice(1) });
const done = await tm.inSession("In a browser", (s) => s.record("user", "\\u65e5".repeat(30_000)).then(() => s.flush()), { key: "browser" });
document.title = `delivered: ${done}, turns: ${(await tm.replayFull("browser")).turns.length}`;
</script>"""


@pytest.fixture(scope="module")
def client() -> Path:
    """The built client; without Node these tests are skipped, in CI they fail."""
    if not shutil.which("npm"):
        missing = "no Node: install Node 20 or newer with npm"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    npm("ci", "--silent")
    npm("run", "--silent", "build")
    return FOLDER


def npm(*arguments: str, **environment: str) -> str:
    """Run npm in the folder of the client and return what it prints."""
    done = subprocess.run(
        ["npm", *arguments],
        cwd=FOLDER,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_own_tests_pass(client: Path, product: Product, tmp_path: Path) -> None:
    spool = str(tmp_path / "spool")
    npm("exec", "--", "tsc", "-p", "tests")  # `npm test` alone would also build the client again
    npm(
        "test",
        "--ignore-scripts",
        TIMEMACHINE_URL=product.url,
        TIMEMACHINE_API_KEY=product.key,
        TIMEMACHINE_SPOOL=spool,
    )


def test_its_types_are_those_of_the_api(client: Path, tmp_path: Path) -> None:
    source = tmp_path / "openapi.json"
    source.write_bytes(document())
    generate(source, "--check")
    assert TYPES.stat().st_size > 100_000


def test_its_package_is_small_and_names_no_registry(client: Path) -> None:
    [packed] = json.loads(npm("pack", "--dry-run", "--json", "--ignore-scripts"))
    names = {each["path"] for each in packed["files"]}
    assert {"README.md", "dist/node.js", "dist/node.d.ts", "dist/browser.js", "package.json"} <= names
    assert all(name.startswith("dist/") or name in {"README.md", "package.json"} for name in names)
    assert packed["size"] < 120_000
    assert '"resolved"' not in (client / "package-lock.json").read_text()


def test_a_stopped_server_loses_and_doubles_nothing(client: Path, used_home: Path, tmp_path: Path) -> None:
    product = OwnProduct(Machine(copied(used_home, tmp_path / "home")).ready())
    environment = os.environ | {
        "TIMEMACHINE_URL": product.url,
        "TIMEMACHINE_API_KEY": product.key,
        "TIMEMACHINE_SPOOL": str(tmp_path / "spool"),
    }
    command = ["node", "--input-type=module", "-e", RECORDING]
    with subprocess.Popen(command, cwd=client, env=environment, stdout=subprocess.PIPE) as recording:
        assert recording.stdout is not None
        assert recording.stdout.readline() == b"stop\n"
        assert product.machine.end() == 0
        again = Machine(product.home, PORT=str(product.machine.port)).ready()
        assert recording.wait(120) == 0
    headers = {"Authorization": f"Bearer {product.key}"}
    transcript = httpx.get(f"{product.url}/api/sessions/stopped/transcript", headers=headers, timeout=60)
    assert [turn["output"] for turn in transcript.json()["items"]] == list(range(300))
    assert again.end() == 0


def test_a_page_of_the_same_origin_records(client: Path, product: Product, page: Page) -> None:
    def serve(route: Route) -> None:
        name = route.request.url.partition("/packed/")[2].partition("#")[0]
        if name == "page":
            route.fulfill(body=PAGE, content_type="text/html")
        else:
            route.fulfill(body=(client / name).read_bytes(), content_type="text/javascript")

    page.route("**/packed/**", serve)
    page.goto(f"{product.url}/packed/page#{product.key}")
    page.wait_for_function("document.title !== 'waiting'")
    assert page.title() == "delivered: true, turns: 1"
