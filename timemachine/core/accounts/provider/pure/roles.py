"""Which role in which project a group of the provider gives."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.ids import uuid_of


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRole:
    """A group's role in a project, which is named by its id: names can change, and two projects can have the same one."""

    group: str
    project: str
    role: str


def parse_roles(text: str, roles: Sequence[str]) -> tuple[GroupRole, ...]:
    """Parse `group=project:role; …`. `roles` are the roles that exist. A group may contain `=` and `:`.

    Raises `InvalidInput` with the entry that is wrong.
    """
    return tuple(_parse(entry.strip(), roles) for entry in text.split(";") if entry.strip())


def roles_of(groups: Iterable[str], mapping: Iterable[GroupRole], roles: Sequence[str]) -> Mapping[str, str]:
    """Return the role for each project that these groups give, the highest if several do. `roles` begin with the lowest."""
    mine = set(groups)
    found: dict[str, str] = {}
    for each in mapping:
        if each.group in mine:
            before = found.get(each.project, each.role)
            found[each.project] = max(before, each.role, key=roles.index)
    return found


def _parse(entry: str, roles: Sequence[str]) -> GroupRole:
    before, _, role = entry.rpartition(":")
    group, _, project = before.rpartition("=")
    id_ = uuid_of(project.strip())
    if not group or id_ is None or role not in roles:
        raise InvalidInput(
            f"OIDC_ROLES: {entry!r} is not group=project:role. Name the project by its ID, which Settings → Project shows, "
            f"and one of the roles {', '.join(roles)}."
        )
    return GroupRole(group=group.strip(), project=str(id_), role=role)
