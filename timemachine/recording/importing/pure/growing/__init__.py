"""Files that are read while they grow, in parts: what of a part is settled, and which lines the next part needs again.

A recorded step never changes. So a line is recorded only when no later line can change what it becomes, and the parts of a
file become what the complete file does. `GROWTHS` has what is known of each format.
"""

from typing import Final

from timemachine.recording.importing.pure.growing import claude_code, codex, gemini_cli
from timemachine.recording.importing.pure.growing.settling import Growth

GROWTHS: Final = {
    "claude_code": Growth(held_from=claude_code.held_from, needed=claude_code.needed),
    "codex": Growth(held_from=codex.held_from, needed=codex.needed),
    "gemini_cli": Growth(held_from=gemini_cli.held_from, needed=gemini_cli.needed),
}
