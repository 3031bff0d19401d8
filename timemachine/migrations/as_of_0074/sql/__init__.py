"""What Django has no words for: functions, triggers that keep promises and counts, and how rows are stored."""

import re

from .counting import COUNTS
from .finding import HOLD, UPKEEP
from .going import GOES_WITH
from .promises import PROMISES
from .storage import STORAGE
from .words import FUNCTIONS

BEFORE_THE_TABLES = FUNCTIONS
AFTER_THE_TABLES = STORAGE + UPKEEP + HOLD + COUNTS + GOES_WITH + PROMISES
# triggers go with their tables
NO_FUNCTIONS = "".join(
    f"DROP FUNCTION IF EXISTS {name} CASCADE;\n"
    for name in re.findall(r"CREATE FUNCTION (\S+?)\(", BEFORE_THE_TABLES + AFTER_THE_TABLES)
)
