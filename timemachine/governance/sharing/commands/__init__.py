"""The commands of sharing; callers import them from here."""

from timemachine.governance.sharing.commands.links import (
    create_link,
    revoke,
    revoke_all,
    set_policy,
    unsaved_link,
    url_of,
)
from timemachine.governance.sharing.commands.opening import (
    GRANT_LIFETIME,
    OpenedLink,
    PassphraseNeeded,
    WrongPassphrase,
    open_link,
)
from timemachine.governance.sharing.commands.visits import download, view

__all__ = [
    "GRANT_LIFETIME",
    "OpenedLink",
    "PassphraseNeeded",
    "WrongPassphrase",
    "create_link",
    "download",
    "open_link",
    "revoke",
    "revoke_all",
    "set_policy",
    "unsaved_link",
    "url_of",
    "view",
]
