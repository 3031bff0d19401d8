"""Files that tests upload."""

from typing import Any

from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.intake.commands import FilePut, put_at_once
from timemachine.recording.intake.preparing import HandedIn, prepare

GUIDE = "# Guide\n\nHow it all began.\n\n## Install\n\nRun the installer twice.\n\n## Remove\n\nDelete the folder.\n"


def guide(words: str = GUIDE, **more: Any) -> HandedIn:
    """The guide as uploaded, or with another text."""
    return HandedIn(name="guide.md", data=words.encode(), **more)


def long_text(paragraphs: int) -> HandedIn:
    """A text with this many passages."""
    words = "\n\n".join(
        f"Paragraph {number}. " + "It says a thing or two. " * 40 for number in range(paragraphs)
    )
    return HandedIn(name="long.txt", data=words.encode())


NOTES = long_text(3).data.decode()


def notes(words: str = NOTES, **more: Any) -> HandedIn:
    """Plain text with three passages, which is read without starting a process, or another text."""
    return HandedIn(name="notes.txt", data=words.encode(), **more)


def now_put(collection: Collection, file: HandedIn, **more: Any) -> FilePut:
    """A file put directly by Ada."""
    return put_at_once(collection, prepare(file), by="Ada", **more)


def current(collection: Collection) -> list[Frame]:
    """The current frames of the collection, in order."""
    return list(Frame.objects.filter(collection=collection, valid_until=None).order_by("number"))
