"""Every table as it stands, in the order in which they came: that is the order of their content types, too."""

from .comparisons import TABLES as COMPARISONS
from .counts import TABLES as COUNTS
from .evidence import TABLES as EVIDENCE
from .forgetting import TABLES as FORGETTING
from .links import TABLES as LINKS
from .memory import TABLES as MEMORY
from .record import TABLES as RECORD
from .retrieval import TABLES as RETRIEVAL

TABLES = [*RECORD, *LINKS, *RETRIEVAL, *COMPARISONS, *COUNTS, *EVIDENCE, *MEMORY, *FORGETTING]
