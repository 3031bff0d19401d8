"""What we ask of accounts. Each question starts from who is asking: a person, or a project."""

from django.db.models import QuerySet

from timemachine.core.accounts.models import ADMIN, ApiKey, Membership, Project, SignInLink, User
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound


def memberships_of(user: User) -> QuerySet[Membership]:
    """The projects of a person with the role in each, the first joined first."""
    return user.memberships.select_related("project").order_by("created_at", "pk")


def members_of(project: Project) -> QuerySet[Membership]:
    """The members of a project with their people, in the order in which they joined."""
    return project.memberships.select_related("user").order_by("created_at", "pk")


def member(project: Project, membership_id: int) -> Membership:
    """One member of this project; `NotFound` for anybody else's."""
    found = members_of(project).filter(pk=membership_id).first()
    if found is None:
        raise NotFound("There is no such member in this project.", code="no_such_member")
    return found


def invitations_of(project: Project) -> QuerySet[SignInLink]:
    """The invitations to a project that can still be accepted, the newest first."""
    waiting = project.invitations.filter(used_at=None, expires_at__gt=now())
    return waiting.select_related("user", "created_by").order_by("-created_at", "-pk")


def invitation(project: Project, link_id: int) -> SignInLink:
    """One invitation to this project that can still be accepted; `NotFound` for any other."""
    found = invitations_of(project).filter(pk=link_id).first()
    if found is None:
        raise NotFound("There is no such invitation in this project.", code="no_such_invitation")
    return found


def keys_of(project: Project) -> QuerySet[ApiKey]:
    """The API keys of a project, revoked and expired ones too, the newest first."""
    return project.api_keys.select_related("created_by").order_by("-created_at", "-pk")


def key(project: Project, key_id: str) -> ApiKey:
    """One API key of this project; `NotFound` for any other."""
    found = keys_of(project).filter(pk=key_id).first() if key_id.isalnum() else None
    if found is None:
        raise NotFound(
            "There is no such API key in this project; the list of keys shows those there are.",
            code="no_such_key",
        )
    return found


def first_project() -> Project | None:
    """The project that the first start made: the oldest."""
    return Project.objects.order_by("created_at", "pk").first()


def first_administrator() -> User | None:
    """The administrator who has been one for longest, or None before the first start."""
    first = Membership.objects.filter(role=ADMIN, user__is_active=True).order_by("created_at", "pk")
    found = first.select_related("user").first()
    return found.user if found else None


def person(email: str) -> User:
    """The person of that e-mail address, whatever its case; `NotFound` where there is none."""
    found = User.objects.filter(email=email.strip().lower()).first()
    if found is None:
        raise NotFound(f"Nobody here has the e-mail address {email.strip()}.", code="no_such_person")
    return found
