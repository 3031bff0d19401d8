"""Generate the types of the TypeScript client from the OpenAPI document: `python -m clients.generate_typescript`.

`--check` compares the document with the one that the types were generated from, which needs no Node, and fails if it differs.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from clients.generate_python import ROOT, openapi_document

FOLDER: Final = ROOT / "clients" / "typescript"
TYPES: Final = FOLDER / "src" / "generated" / "schema.ts"
_HASH: Final = re.compile(r"SHA-256 of the document: ([0-9a-f]{64})")


def document() -> bytes:
    """The OpenAPI document in the form from which the types are generated."""
    return json.dumps(openapi_document(), indent=1, sort_keys=True).encode()


def generate(source: Path, *options: str) -> None:
    """Generate the types from a document, or compare them with `--check`. Raises `CalledProcessError`."""
    subprocess.run(["node", "generate.js", str(source), *options], cwd=FOLDER, check=True)


def main() -> int:
    """Write the types, or compare the document; return the exit code."""
    made = document()
    found = _HASH.search(TYPES.read_text(encoding="utf-8"))
    is_current = found is not None and found[1] == hashlib.sha256(made).hexdigest()
    if "--check" in sys.argv:
        if not is_current:
            print("The types of the TypeScript client are out of date. Run `make client`.")
        return int(not is_current)
    if not shutil.which("npm"):
        if not is_current:
            print("Install Node 20 or newer with npm to generate the types of the TypeScript client.")
        return int(not is_current)
    if not (FOLDER / "node_modules").exists():
        subprocess.run(["npm", "ci", "--silent"], cwd=FOLDER, check=True)
    source = ROOT / "build" / "openapi.json"
    source.parent.mkdir(exist_ok=True)
    source.write_bytes(made)
    generate(source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
