"""Run benchmarks, each on a database of its own, and print all their figures in one table: `python -m bench [NAME…]`.

The exit code is 1 if a figure exceeds its budget or a benchmark failed. `--release VERSION` stores the figures in `baseline.json`, as
those of a release.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.common import report

NAMES = sorted(each.stem for each in Path(__file__).parent.glob("[!_]*.py"))


def main() -> int:
    """Run them one after another."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(NAMES)}")
    parser.add_argument("--release", help="keep the figures in baseline.json, as those of this release")
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures"
        file.touch()
        failed = [name for name in given.names or NAMES if not run(name, file)]
        found = report.read(file)
    print("\n" + report.table(found))
    for name in failed:
        print(f"{name} failed.")
    if given.release and not failed:
        report.keep(found, given.release)
    return int(bool(failed) or any(each.exceeded for each in found))


def run(name: str, file: Path) -> bool:
    """Run a benchmark and return whether it succeeded; if so, its measurements are in the file."""
    print(f"— {name}", flush=True)
    on_a_database = (sys.executable, "-m", "tests.embedded_postgres")
    command = (*on_a_database, sys.executable, "-m", f"bench.{name}")
    environment = os.environ | {report.KEEP_IN: str(file)}
    return subprocess.run(command, env=environment, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
