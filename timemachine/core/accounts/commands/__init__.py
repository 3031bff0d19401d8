"""What we change in accounts, one file a noun; callers take every command from here."""

from timemachine.core.accounts.commands.first_start import FIRST_EMAIL, LOCAL_KEY, FirstStart, first_run
from timemachine.core.accounts.commands.keys import authenticate_key, make_api_key, revoke_api_key
from timemachine.core.accounts.commands.links import make_sign_in_link, sign_in_url, use_sign_in_link
from timemachine.core.accounts.commands.members import (
    change_role,
    invite,
    make_reset_link,
    remove_member,
    withdraw_invitation,
)
from timemachine.core.accounts.commands.passwords import (
    change_password,
    introduce,
    password_problems,
    set_password,
    sign_in,
)
from timemachine.core.accounts.commands.projects import make_project, rename_person, rename_project

__all__ = [
    "FIRST_EMAIL",
    "LOCAL_KEY",
    "FirstStart",
    "authenticate_key",
    "change_password",
    "change_role",
    "first_run",
    "introduce",
    "invite",
    "make_api_key",
    "make_project",
    "make_reset_link",
    "make_sign_in_link",
    "password_problems",
    "remove_member",
    "rename_person",
    "rename_project",
    "revoke_api_key",
    "set_password",
    "sign_in",
    "sign_in_url",
    "use_sign_in_link",
    "withdraw_invitation",
]
