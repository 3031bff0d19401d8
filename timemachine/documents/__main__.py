"""The process that reads one file: its bytes come in on standard input, the document goes out as JSON.

`python -m timemachine.documents FORMAT SECONDS MEGABYTES`; whatever goes wrong in here goes wrong for this file only.
"""

import json
import resource
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from timemachine.base.errors import InvalidInput
from timemachine.documents.document import Document


def main(format_: str, seconds: int, megabytes: int) -> None:
    """Read, within the limits; a file that is refused is an answer, too."""
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_AS, megabytes * 1024 * 1024)
    _limit(resource.RLIMIT_CORE, 0)
    try:
        answer = _written(_read(format_, sys.stdin.buffer.read()))
    except InvalidInput as why:
        answer = {"refused": {"kind": type(why).__name__, **why.as_json()}}
    sys.stdout.write(json.dumps(answer))


def _read(format_: str, data: bytes) -> Document:
    """Only what this format needs is imported: most of the time that a small file takes is imports."""
    if format_ == "pdf":
        from timemachine.documents.pdf import read_pdf as read
    elif format_ == "html":
        from timemachine.documents.html import read_html as read
    elif format_ == "markdown":
        from timemachine.documents.markdown import read_markdown as read
    else:
        raise ValueError(format_)
    return read(data)


def _limit(which: int, most: int) -> None:
    with suppress(ValueError, OSError):  # macOS knows no limit of the address space
        resource.setrlimit(which, (most, most))


def _written(document: Document) -> dict[str, Any]:
    return {
        "text": document.text,
        "title": document.title,
        "blocks": [asdict(block) for block in document.blocks],
    }


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
