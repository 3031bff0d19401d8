"""What a share link shows: frozen dataclasses of fields that are named here, redacted when they are built.

Pages, presenters and templates under /share/ read these and never a database model. A new column stays
invisible until it is added to one of them; `tests/governance/sharing/decisions.py` lists every field as shown
or not shown, and a test fails for one that is in neither list.
"""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def shown_of[Shown: "DataclassInstance"](kind: type[Shown], row: object, **redacted: Any) -> Shown:
    """Return the read model of a row: `redacted` fields as given, all others as in the row."""
    same = {each.name: getattr(row, each.name) for each in fields(kind) if each.name not in redacted}
    return kind(**same, **redacted)
