"""Commands that change accounts. Import them from here."""

from timemachine.core.accounts.commands.first_start import FIRST_EMAIL, LOCAL_KEY, FirstStart, first_run
from timemachine.core.accounts.commands.keys import authenticate_key, make_api_key, revoke_api_key
from timemachine.core.accounts.commands.links import make_sign_in_link, sign_in_url, use_sign_in_link
from timemachine.core.accounts.commands.people import (
    change_password,
    complete_profile,
    password_problems,
    rename_person,
    set_password,
    sign_in,
)
from timemachine.core.accounts.commands.projects import (
    change_role,
    invite,
    make_project,
    make_reset_link,
    remove_member,
    rename_project,
    withdraw_invitation,
)

__all__ = [
    "FIRST_EMAIL",
    "LOCAL_KEY",
    "FirstStart",
    "authenticate_key",
    "change_password",
    "change_role",
    "complete_profile",
    "first_run",
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
