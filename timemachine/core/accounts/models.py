"""People, the projects they belong to, and the API keys of programs."""

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower, Now
from django.utils.crypto import salted_hmac

from timemachine.core.pure.ids import uuid7

VIEWER, OPERATOR, ADMIN = "viewer", "operator", "admin"
ROLES = (VIEWER, OPERATOR, ADMIN)
SCOPES = ("read", "record", "run", "share", "admin")


class UserManager(BaseUserManager["User"]):
    """Finds a person by e-mail address, in any case."""

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser):
    """A person, who signs in by e-mail address and password or by a one-time link."""

    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now())

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        db_table = "tm_user"
        constraints = [
            models.CheckConstraint(condition=Q(email=Lower("email")), name="user_email_lower_case")
        ]

    def __str__(self) -> str:
        return self.name or self.email

    def session_auth_hashes(self) -> set[str]:
        """Return what proves the current password: the hash under SECRET_KEY, and those under its fallbacks."""
        return {self.get_session_auth_hash(), *self.get_session_auth_fallback_hash()}


class Project(models.Model):
    """The tenant: every row belongs to one project, and nothing is shared between projects."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())
    longest_key_days = models.PositiveIntegerField(null=True)
    """The longest lifetime of a new API key; None for no limit."""
    needs_second_factor = models.BooleanField(db_default=False, default=False)
    """Whether only members who signed in with a second factor see the project. API keys need none."""

    class Meta:
        db_table = "tm_project"
        constraints = [
            models.CheckConstraint(condition=Q(longest_key_days__gt=0), name="project_longest_key_days"),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's role in a project: viewers read, operators also record and run, administrators also manage."""

    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.DB_CASCADE, related_name="memberships")
    role = models.CharField(max_length=20)
    created_at = models.DateTimeField(db_default=Now())
    from_provider = models.BooleanField(db_default=False, default=False)
    """Whether a group of the sign-in provider gives it, which then sets or removes the role at each sign-in."""

    class Meta:
        db_table = "tm_membership"
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=ROLES), name="membership_role_known"),
        ]

    def may(self, role: str) -> bool:
        """Return whether this role includes the given one, as administrators can do all that operators can."""
        return ROLES.index(self.role) >= ROLES.index(role)


class ApiKey(models.Model):
    """A program's key, `tmk_<id>_<secret>`. Only a hash of the secret is stored."""

    id = models.CharField(primary_key=True, max_length=16)
    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="api_keys")
    name = models.CharField(max_length=200)
    scopes = ArrayField(models.CharField(max_length=10))
    secret_sha256 = models.CharField(max_length=64)
    created_by = models.ForeignKey(User, null=True, on_delete=models.DB_SET_NULL)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_api_key"


class SignInLink(models.Model):
    """A link that signs one person in once: the first sign-in, an invitation, or a password reset.

    An invitation names a project and a role. The person becomes a member only on accepting it.
    """

    SIGN_IN, INVITE, RESET = "sign_in", "invite", "reset"

    user = models.ForeignKey(User, on_delete=models.DB_CASCADE)
    purpose = models.CharField(max_length=10)
    project = models.ForeignKey(Project, null=True, on_delete=models.DB_CASCADE, related_name="invitations")
    role = models.CharField(max_length=20, null=True)
    secret_sha256 = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.DB_SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_sign_in_link"
        constraints = [
            models.CheckConstraint(
                condition=Q(purpose="invite", project__isnull=False, role__isnull=False, role__in=ROLES)
                | Q(purpose__in=("sign_in", "reset"), project__isnull=True, role__isnull=True),
                name="sign_in_link_invites_to_a_project",
            ),
        ]


class BrowserSession(AbstractBaseSession):
    """What the server stores of a browser between requests; of a signed-in one also whose it is and what it is.

    See `browser_sessions`, which writes it.
    """

    user = models.ForeignKey(User, null=True, on_delete=models.DB_CASCADE, related_name="browsers")
    signed_in_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField()
    device = models.CharField(max_length=60)
    network = models.CharField(max_length=50)

    class Meta:
        db_table = "tm_browser_session"
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None, signed_in_at=None) | Q(user__isnull=False, signed_in_at__isnull=False),
                name="browser_session_signed_in",
            ),
        ]

    @property
    def public_id(self) -> str:
        """Return an id for pages. The key itself would sign in."""
        return salted_hmac("timemachine.browser_session", self.session_key, algorithm="sha256").hexdigest()[
            :16
        ]


class SecondFactor(models.Model):
    """What a person needs besides the password or link to sign in: an authenticator app or a passkey."""

    APP, PASSKEY = "app", "passkey"

    user = models.ForeignKey(User, on_delete=models.DB_CASCADE, related_name="second_factors")
    kind = models.CharField(max_length=10)
    name = models.CharField(max_length=200)
    secret = models.BinaryField()
    """The encrypted secret of an app, or the public key of a passkey, which is not secret."""
    credential_id = models.BinaryField(null=True, unique=True)
    counter = models.BigIntegerField(default=0)
    """The 30 seconds whose code of an app was used last, counted since 1970, or the signature counter of a passkey."""
    created_at = models.DateTimeField(db_default=Now())
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_second_factor"
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="app", credential_id=None) | Q(kind="passkey", credential_id__isnull=False),
                name="second_factor_kind",
            ),
        ]


class RecoveryCode(models.Model):
    """A code that replaces the second factor once. Only a hash is stored."""

    user = models.ForeignKey(User, on_delete=models.DB_CASCADE, related_name="recovery_codes")
    code_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_recovery_code"


class ProviderIdentity(models.Model):
    """Who a person is for the sign-in provider. The subject never changes, unlike an e-mail address."""

    user = models.ForeignKey(User, on_delete=models.DB_CASCADE, related_name="provider_identities")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_provider_identity"
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="provider_identity_once"),
            models.UniqueConstraint(fields=["user", "issuer"], name="provider_identity_one_for_each_issuer"),
        ]


class SignInFailures(models.Model):
    """The recent failed sign-ins to one account, from one address, or from one browser, stored to delay the next one.

    `subject` is a keyed hash: the table contains neither e-mail nor IP addresses.
    """

    subject = models.CharField(primary_key=True, max_length=64)
    count = models.FloatField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = "tm_sign_in_failures"
        indexes = [models.Index(fields=["last_at"], name="sign_in_failures_last")]
