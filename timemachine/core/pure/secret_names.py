"""Names under which programs keep secrets, and what is recorded in place of these."""

import re
from typing import Final

SECRET_NAME: Final = re.compile(
    r"key|token|secret|passw|credential|auth|cookie|private|signature|sig$", re.IGNORECASE
)
"""Found in the names of variables, headers and parameters that have secrets."""
WITHHELD: Final = "[withheld: secret]"
"""What is recorded in place of a secret, here and on the server."""
