"""Encrypt everything again after SECRET_KEY was replaced."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from timemachine.core.accounts.second_factor import apps
from timemachine.core.encryption import Reencrypted
from timemachine.core.pure.numbers import counted
from timemachine.evidence.log import keys
from timemachine.llm import key_encryption
from timemachine.recording.sessions.deletions import count_marks


class Command(BaseCommand):
    """Encrypt the keys and secrets in the database under the current SECRET_KEY, so that a fallback can be removed."""

    help = "Encrypt keys and secrets in the database again, under the current SECRET_KEY."

    def handle(self, *_: Any, **__: Any) -> None:
        """Print a line for each kind, and whether a fallback is still needed."""
        found = [*key_encryption.reencrypt_keys(), keys.reencrypt_keys(), apps.reencrypt_secrets()]
        for each in found:
            self.stdout.write(f"{counted(each.done, each.noun)} encrypted under the current SECRET_KEY.")
        _refuse_unreadable(found)
        marks = count_marks()
        if marks and settings.SECRET_KEY_FALLBACKS:
            self.stdout.write(
                f"Keep the fallback: {counted(marks, 'deleted session')} can be recognised only with the key of that time, "
                "when a session with the same key is imported again."
            )


def _refuse_unreadable(found: list[Reencrypted]) -> None:
    unreadable = [counted(each.unreadable, each.noun) for each in found if each.unreadable]
    if unreadable:
        raise CommandError(
            f"Not readable: {', '.join(unreadable)}. Put the SECRET_KEY of that time into SECRET_KEY_FALLBACKS."
        )
