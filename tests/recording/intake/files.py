"""Files that tests hand in."""

from typing import Any

from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.intake.commands import FilePut, put_at_once
from timemachine.recording.intake.preparing import HandedIn, prepare

GUIDE = "# Guide\n\nHow it all began.\n\n## Install\n\nRun the installer twice.\n\n## Remove\n\nDelete the folder.\n"


def guide(words: str = GUIDE, **more: Any) -> HandedIn:
    """The guide as it is handed in, or with other words."""
    return HandedIn(name="guide.md", data=words.encode(), **more)


def long_text(paragraphs: int) -> HandedIn:
    """A text of so many passages."""
    words = "\n\n".join(
        f"Paragraph {number}. " + "It says a thing or two. " * 40 for number in range(paragraphs)
    )
    return HandedIn(name="long.txt", data=words.encode())


NOTES = long_text(3).data.decode()


def notes(words: str = NOTES, **more: Any) -> HandedIn:
    """Three passages of plain text, which is read without starting a process, or other words."""
    return HandedIn(name="notes.txt", data=words.encode(), **more)


def now_put(collection: Collection, file: HandedIn, **more: Any) -> FilePut:
    """A file put at once by Ada."""
    return put_at_once(collection, prepare(file), by="Ada", **more)


def current(collection: Collection) -> list[Frame]:
    """The frames of the collection that are valid now, in their order."""
    return list(Frame.objects.filter(collection=collection, valid_until=None).order_by("number"))
