"""The key of the `timemachine` command on this machine, for the examples on empty pages."""

from timemachine.core.accounts.commands.keys import valid_key
from timemachine.core.pure.home import local_key_file
from timemachine.web.access import Access


def local_key(access: Access) -> str | None:
    """Return this machine's key if it belongs to this project and the person is an administrator; else None.

    It is in a file that only the server's user can read, and it is only shown to people who could create a key themselves.
    """
    if not access.administers:
        return None
    try:
        text = local_key_file().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    key = valid_key(text)
    return text if key is not None and key.project_id == access.project.pk else None
