"""What a project is offered, with what it costs and how it last did: what the models page, the API and the command show."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from timemachine.base.clock import now
from timemachine.providers.listing import Listed, State, state
from timemachine.providers.models import ModelTrial
from timemachine.providers.overrides import price_overrides
from timemachine.providers.price_table import PriceEntry
from timemachine.providers.prices import unit_prices
from timemachine.providers.queries import listed_models
from timemachine.providers.trials import latest_trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A listed model with its unit prices of today (None: unknown, or no default model) and its last trial (None: never).

    `also_priced` are the operator's prices for other models of the provider.
    """

    listed: Listed
    prices: dict[str, Any] | None
    trial: ModelTrial | None
    also_priced: tuple[PriceEntry, ...]

    @property
    def state(self) -> State:
        """Whether it works, as far as is known."""
        trial = self.trial
        ended = trial is not None and trial.ended_at is not None
        return state(self.listed, tested=ended, error_code=trial.error_code if trial else None)


def offers_of(project_id: UUID) -> tuple[Offer, ...]:
    """All that the project is offered, usable or not, in the order of `listing`."""
    moment, trials = now(), latest_trials(project_id)
    return tuple(
        Offer(
            listed=each,
            prices=None if each.model is None else unit_prices(each.model, moment),
            trial=None if each.model is None else trials.get(str(each.model)),
            also_priced=_also_priced(each, moment),
        )
        for each in listed_models(project_id)
    )


def _also_priced(listed: Listed, moment: datetime) -> tuple[PriceEntry, ...]:
    found = price_overrides().of_provider(listed.provider, moment)
    return tuple(each for each in found if each.model != str(listed.model))
