"""The key that the `timemachine` command on this machine uses, for the examples of an empty page."""

from timemachine.core.accounts.commands.keys import valid_key
from timemachine.core.pure.home import local_key_file
from timemachine.web.access import Access


def local_key(access: Access) -> str | None:
    """This machine's own key, if it opens this project and whoever asks administers it; else None.

    It lies in a file that only the server's own user reads, so it is shown to nobody who could not make one as well.
    """
    if not access.administers:
        return None
    try:
        text = local_key_file().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    key = valid_key(text)
    return text if key is not None and key.project_id == access.project.pk else None
