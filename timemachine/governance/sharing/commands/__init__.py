"""What we change in sharing, one file a noun; callers take every command from here."""

from timemachine.governance.sharing.commands.downloading import download
from timemachine.governance.sharing.commands.links import create_link, link_to, revoke, revoke_all, url_of
from timemachine.governance.sharing.commands.opening import (
    GRANT_LIFETIME,
    Opened,
    PassphraseNeeded,
    WrongPassphrase,
    open_link,
)
from timemachine.governance.sharing.commands.policy import set_policy
from timemachine.governance.sharing.commands.viewing import view

__all__ = [
    "GRANT_LIFETIME",
    "Opened",
    "PassphraseNeeded",
    "WrongPassphrase",
    "create_link",
    "download",
    "link_to",
    "open_link",
    "revoke",
    "revoke_all",
    "set_policy",
    "url_of",
    "view",
]
