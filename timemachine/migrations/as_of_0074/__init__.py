"""The whole schema as the migrations up to 0074 leave it, for the one that makes it at once where there is none.

Nothing here changes any more: whatever comes later is a migration of its own, as everywhere.
"""

from .creating import CreateModels
from .queue import install_queue
from .sql import AFTER_THE_TABLES, BEFORE_THE_TABLES, NO_FUNCTIONS
from .tables import TABLES

__all__ = ["AFTER_THE_TABLES", "BEFORE_THE_TABLES", "NO_FUNCTIONS", "TABLES", "CreateModels", "install_queue"]
