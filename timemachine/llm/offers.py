"""A project's models with their prices and last results, for the models page, the API and the command."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from timemachine.core.pure.clock import now
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.models import ModelTrial
from timemachine.llm.prices import price_overrides, unit_prices
from timemachine.llm.pure.listing import Listed, State, state
from timemachine.llm.pure.price_table import PriceEntry
from timemachine.llm.queries import listed_models
from timemachine.llm.trials import latest_trials

NOT_CHECKED: Final = "not tested yet"
NOT_REACHED: Final = "at the last test"


@dataclass(frozen=True, slots=True, kw_only=True)
class LastAnswer:
    """The model of a provider that answered most recently, and when."""

    model: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A listed model with its current unit prices and its last test.

    `prices` is None if they are unknown or there is no default model. `answered` is the provider's last answer outside
    of tests, if any. `also_priced` are the operator's prices for other models of the provider.
    """

    listed: Listed
    prices: JsonObject | None
    trial: ModelTrial | None
    also_priced: tuple[PriceEntry, ...]
    answered: LastAnswer | None = None

    @property
    def state(self) -> State:
        """Whether the model works, as far as is known."""
        failed = self.failed_trial
        ended = self.trial is not None and self.trial.ended_at is not None
        alive = ended or self.answered is not None
        return state(self.listed, tested=alive, error_code=failed.error_code if failed else None)

    @property
    def failed_trial(self) -> ModelTrial | None:
        """The last test, if it failed and no answer came after it."""
        trial = self.trial
        if trial is None or trial.error_code is None:
            return None
        return None if self.answered is not None and self.answered.at > trial.started_at else trial

    @property
    def remark(self) -> str | None:
        """Why the model does not work, or a reservation if it does."""
        failed = self.failed_trial
        if self.state == "yes":
            return None if failed is None else f"but its last test failed: {failed.words}"
        return {"not_checked": NOT_CHECKED, "not_reached": NOT_REACHED}.get(self.state, self.listed.why_not)


def offers_of(project_id: UUID, answers: Mapping[str, LastAnswer] | None = None) -> tuple[Offer, ...]:
    """Return all models of the project, usable or not, in the order of `listing`. `answers` are the last ones by provider."""
    known = answers or {}
    moment, trials = now(), latest_trials(project_id)
    return tuple(
        Offer(
            listed=each,
            prices=None if each.model is None else unit_prices(each.model, moment),
            trial=None if each.model is None else trials.get(str(each.model)),
            also_priced=tuple(
                priced
                for priced in price_overrides().of_provider(each.provider, moment)
                if priced.model != str(each.model)
            ),
            answered=known.get(each.provider),
        )
        for each in listed_models(project_id)
    )
