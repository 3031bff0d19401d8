"""What we change in sharing, one file a noun; callers take every command from here."""

from timemachine.sharing.commands.links import create_link, revoke, url_of
from timemachine.sharing.commands.opening import (
    GRANT_LIFETIME,
    Opened,
    PassphraseNeeded,
    WrongPassphrase,
    open_link,
)

__all__ = [
    "GRANT_LIFETIME",
    "Opened",
    "PassphraseNeeded",
    "WrongPassphrase",
    "create_link",
    "open_link",
    "revoke",
    "url_of",
]
