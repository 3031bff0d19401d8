"""The process that reads one file. Takes a line of JSON and the bytes on standard input, and writes its passages or
records as JSON.

`python -m timemachine.text.pure.documents FORMAT SECONDS MEGABYTES`. Whatever goes wrong here affects only this file.
"""

import json
import resource
import sys
from contextlib import suppress

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.text.pure.documents.document import Document
from timemachine.text.pure.documents.passages import SplitDocument, split_document


def main(format_: str, seconds: int, megabytes: int) -> None:
    """Read a file within the limits. A refusal is a result too."""
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_AS, megabytes * 1024 * 1024)
    _limit(resource.RLIMIT_CORE, 0)
    try:
        names = json.loads(sys.stdin.buffer.readline())
        data = sys.stdin.buffer.read()
        if format_ == "jsonl":
            from timemachine.text.pure.documents.jsonl import read_jsonl

            answer: JsonObject = {"lines": [vars(each) for each in read_jsonl(data)]}
        else:
            answer = _written(split_document(_read(format_, data), **names))
    except InvalidInput as why:
        answer = {"refused": {"kind": type(why).__name__, **why.as_json()}}
    sys.stdout.write(json.dumps(answer))


def _read(format_: str, data: bytes) -> Document:
    """Read the file. Imports only what its format needs, as imports take most of the time for a small file."""
    if format_ == "pdf":
        from timemachine.text.pure.documents.pdf import read_pdf as read
    elif format_ == "html":
        from timemachine.text.pure.documents.html import read_html as read
    elif format_ == "markdown":
        from timemachine.text.pure.documents.markdown import read_markdown as read
    elif format_ == "text":
        from timemachine.text.pure.documents.plain_text import read_plain_text as read
    else:
        raise ValueError(format_)
    return read(data)


def _limit(which: int, most: int) -> None:
    with suppress(ValueError, OSError):  # macOS has no limit of the address space
        resource.setrlimit(which, (most, most))


def _written(found: SplitDocument) -> JsonObject:
    """Return the document as JSON. A passage has its text only if that differs from the document's."""
    texts = dict.fromkeys(each.title for each in found.passages)
    titles = {title: place for place, title in enumerate(texts)}
    return {
        "text": found.text,
        "title": found.title,
        "titles": list(titles),
        "left_out": found.left_out,
        "passages": [
            (
                each.start,
                each.end,
                titles[each.title],
                each.page,
                None if found.text[each.start : each.end] == each.text else each.text,
            )
            for each in found.passages
        ],
    }


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
