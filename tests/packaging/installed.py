"""`python -m tests.packaging.installed FOLDER`: install the wheels of a release into an empty environment and let it serve a page.

Prints the size of the environment, its largest packages, and the memory of the idle product. Fails if it is too large. Not a test,
because it takes half a minute.
"""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.embedded.machine import free_port
from tests.waiting import wait_until

UV = Path(__file__).parents[2] / ".tools" / "bin" / "uv"
_LARGEST = 12
_MOST = 360e6  # bytes, without the model minilm; 350 with sign-in by OpenID Connect, passkeys and metrics
_IDLE_AFTER = 10  # seconds


def main(wheels: Path) -> None:
    """Install, start, look, print."""
    with TemporaryDirectory() as folder:
        top = Path(folder)
        _run(str(UV), "venv", "--quiet", "--python", sys.executable, str(top / "venv"))
        locked = top / "locked.txt"  # the versions of our tests, not those of today
        _run(
            str(UV),
            "export",
            "--quiet",
            "--locked",
            "--no-dev",
            "--no-hashes",
            "--no-emit-workspace",
            "-o",
            str(locked),
        )
        built = [
            str(each) for each in wheels.glob("*.whl")
        ]  # by path, because uv may have cached older ones of the same version
        _run(
            str(UV),
            "pip",
            "install",
            "--quiet",
            "--python",
            str(top / "venv"),
            "--constraints",
            str(locked),
            *built,
        )
        _print_sizes(next((top / "venv" / "lib").glob("python*")) / "site-packages")
        _serve(top)


def _print_sizes(packages: Path) -> None:
    sizes = {each.name: _bytes(each) for each in packages.iterdir()}
    total = sum(sizes.values())
    print(f"{total / 1e6:.0f} MB installed, of which")
    for name in sorted(sizes, key=lambda name: -sizes[name])[:_LARGEST]:
        print(f"{sizes[name] / 1e6:6.1f} MB  {name}")
    if total > _MOST:
        sys.exit(f"{_MOST / 1e6:.0f} MB is the maximum.")


def _serve(top: Path) -> None:
    """Start the command in an empty folder, fetch the first page and its stylesheet, and measure."""
    address = f"http://127.0.0.1:{(port := free_port())}"
    (top / "empty").mkdir()
    variables = {"HOME": str(top / "home"), "PORT": str(port), "PATH": os.environ["PATH"]}
    command = [str(top / "venv" / "bin" / "timemachine"), "up"]
    with subprocess.Popen(
        command, cwd=top / "empty", env=variables, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert "Preparing the database" in process.stdout.readline()
            assert "Time Machine runs at" in process.stdout.readline()
            page = _fetched(f"{address}/sign-in/")
            for style in re.findall(r'href="(/static/[^"]+\.css)"', page):
                assert "@layer" in _fetched(address + style)
            wait_until(lambda: _fetched(f"{address}/health/ready") != "")
            time.sleep(_IDLE_AFTER)
            print(f"{_memory(process.pid) / 1e6:.0f} MB of memory when idle")
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0


def _memory(pid: int) -> int:
    """The proportional set size of a process and its children, in bytes; 0 where the system does not tell it."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    own = re.search(r"^Pss: +(\d+) kB", rollup, re.MULTILINE)
    return (int(own[1]) * 1024 if own else 0) + sum(_memory(int(each)) for each in children)


def _bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(each.lstat().st_size for each in files if not each.is_dir())


def _fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as response:
        text: str = response.read().decode()
        return text


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
