"""Replace the secret key in the data folder."""

import secrets
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.home import secret_key_file, write_private
from timemachine.core.pure.secret_settings import secret_keys_of_environment, stored_secret_keys


class Command(BaseCommand):
    """Write a new key before the earlier ones, which become fallbacks."""

    help = "Replace the secret key in the data folder; the earlier one becomes a fallback."

    requires_system_checks = ()

    def handle(self, *_: Any, **__: Any) -> None:
        """Say what to do next."""
        try:
            given = secret_keys_of_environment()
        except TimeMachineError as why:
            raise CommandError(why.message) from why
        if given:
            raise CommandError(
                "SECRET_KEY is set in the environment. Put its value into SECRET_KEY_FALLBACKS, set SECRET_KEY to a new one, "
                "restart everything, then run `timemachine manage reencrypt`."
            )
        keys = [secrets.token_urlsafe(50), *stored_secret_keys()]
        write_private(secret_key_file(), "".join(f"{key}\n" for key in keys))
        self.stdout.write(
            f"{secret_key_file()} has a new key in its first line. Restart Time Machine, then run `timemachine manage reencrypt`."
        )
