"""What a project's administrators allow of its links, with a line in the log of every change."""

from dataclasses import asdict

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.governance.sharing import log
from timemachine.governance.sharing.models import SharePolicy
from timemachine.governance.sharing.pure import policy
from timemachine.governance.sharing.pure.policy import Policy
from timemachine.governance.sharing.queries import policy_of


@transaction.atomic
def set_policy(project: Project, chosen: Policy, *, by: str) -> Policy:
    """Keep what is allowed from now on. Where links are forbidden, those there are open for nobody, and show nothing more.

    A passphrase and the longest life are asked of links made from now on. Raises `InvalidInput`.
    """
    policy.check(chosen)
    SharePolicy.objects.get_or_create(project=project)
    row = SharePolicy.objects.select_for_update().get(project=project)
    before = policy_of(project)
    if chosen != before:
        SharePolicy.objects.filter(project=project).update(**asdict(chosen))
        log.append_policy(row, by=by[:254], facts={"before": before.as_json(), "now": chosen.as_json()})
    return chosen
