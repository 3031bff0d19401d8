"""Turn an uploaded file into the passages to put. Nothing is written here."""

from dataclasses import dataclass, replace
from uuid import UUID

from django.conf import settings

from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge.commands import LARGEST_FRAME, NewFrame, Origin
from timemachine.knowledge.sources import SourceFile
from timemachine.text.pure.documents.formats import MEDIA_TYPES, Format, format_of
from timemachine.text.pure.documents.jsonl import BadLine
from timemachine.text.pure.documents.reading import Limits, read, read_lines

MOST_SKIPPED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedIn:
    """A file as it was uploaded. Without a `title`, the title in the file or its name is used; without a `uri`, its name."""

    name: str
    data: bytes
    title: str = ""
    uri: str = ""
    replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The passages of a file in order. `places` are their offsets in the source's text. JSONL has no source."""

    frames: tuple[NewFrame, ...]
    places: tuple[tuple[int, int], ...]
    source: SourceFile | None
    replace: bool

    def of_source(self, source_id: UUID | None) -> list[NewFrame]:
        """Return the passages with their places in the source."""
        if source_id is None:
            return list(self.frames)
        return [
            replace(frame, origin=Origin(source=source_id, start=start, end=end))
            for frame, (start, end) in zip(self.frames, self.places, strict=True)
        ]


def prepare(file: HandedIn, *, seconds: int | None = None) -> Prepared:
    """Return the passages of a file.

    Raises `InvalidInput` if it cannot be read or has no text, and with `facts["skipped"]` if lines of JSONL are not
    passages; `TooLarge` if it exceeds a limit.
    """
    format_ = format_of(file.name, file.data)
    limits = Limits(seconds=seconds or settings.DOCUMENT_SECONDS, megabytes=settings.DOCUMENT_MEMORY_MB)
    if format_ == "jsonl":
        return _of_lines(file, limits)
    return _of_document(file, format_, limits)


def _of_document(file: HandedIn, format_: Format, limits: Limits) -> Prepared:
    document = read(file.data, format_, limits, title=file.title, name=file.name)
    uri, found = file.uri or file.name, document.passages
    frames = tuple(
        NewFrame(
            text=each.text,
            title=each.title,
            uri=uri,
            metadata={} if each.page is None else {"page": each.page},
        )
        for each in found
    )
    return Prepared(
        frames=frames,
        places=tuple((each.start, each.end) for each in found),
        source=SourceFile(
            name=file.name,
            title=document.title,
            uri=uri,
            media_type=MEDIA_TYPES[format_],
            data=file.data,
            text=document.text,
            left_out=document.left_out,
        ),
        replace=file.replace,
    )


def _of_lines(file: HandedIn, limits: Limits) -> Prepared:
    if file.title or file.uri or file.replace:
        raise InvalidInput(
            "Each line of a .jsonl file has its own title and URI. Leave out `title`, `uri` and `replace`.",
            code="not_for_lines",
        )
    frames, bad = [], []
    for line in read_lines(file.data, limits):
        if isinstance(line, BadLine):
            bad.append(line)
        elif len(line.text.encode("utf-8", "replace")) > LARGEST_FRAME:
            reason = f"Its text has more than {LARGEST_FRAME:,} bytes. Split it."
            bad.append(BadLine(line=line.line, reason=reason))
        else:
            frames.append(
                NewFrame(
                    text=line.text, title=line.title, uri=line.uri, metadata=line.metadata, may_be_empty=True
                )
            )
    if bad:
        others = f" {len(bad) - 1:,} more lines are invalid." if len(bad) > 1 else ""
        raise InvalidInput(
            f"Line {bad[0].line:,}: {bad[0].reason}{others} Nothing was stored.",
            code="bad_lines",
            skipped=[{"line": line.line, "reason": line.reason} for line in bad[:MOST_SKIPPED]],
            skipped_lines=len(bad),
        )
    return Prepared(frames=tuple(frames), places=(), source=None, replace=False)
