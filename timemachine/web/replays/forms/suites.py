"""The form of a suite: its sessions, options, schedule and failure conditions."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import time
from typing import Any, ClassVar, Final, cast

from django import forms

from timemachine.core.accounts.models import Project
from timemachine.llm.pure.listing import Choice
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import sessions_named
from timemachine.replay.suites.models import Suite
from timemachine.replay.suites.plan import MOST_MATCHED, Matching, SuitePlan
from timemachine.replay.suites.pure.schedule import MOST_HOURS, WEEKDAYS, schedule_as_written, timezones
from timemachine.replay.suites.queries import plan_of, sessions_of
from timemachine.web.form_parts import ModelPicker, Number, SentOnce, WholeNumber, area_field, server_hints
from timemachine.web.option_fields import SessionFields
from timemachine.web.replays.forms.replays import PLACES

REPEATS: Final = [
    ("", "Manual"),
    ("every", "Every few hours"),
    ("daily", "Daily at a time"),
    ("weekly", "Weekly at a time"),
]
MATCHED: Final = ("q", "agent", "user", "tag")
_MODELS: Final = "Separated by commas; each session is replayed with each model."
_HOURS: Final = f"Enter a whole number of hours from 1 to {MOST_HOURS}, for example 6."
_UNKNOWN_ZONE: Final = (
    "This server does not know this time zone, so scheduled runs cannot start. Choose another one."
)


class SuiteForm(SentOnce, SessionFields):
    """Create or edit a suite; the same rules as in the API."""

    places: ClassVar[Mapping[str, str]] = {
        **PLACES,
        "session_not_found": "others",
        "session_deleted": "others",
        "matching": "match_q",
        "use_models": "models",
        **dict.fromkeys(("unknown_model", "model_not_usable", "model_needed"), "models"),
        "schedule": "repeat",
    }
    model_field = "models"
    name = forms.CharField(label="Name", max_length=200)
    sessions = forms.MultipleChoiceField(
        label="Sessions", required=False, widget=forms.CheckboxSelectMultiple
    )
    others = forms.CharField(
        label="Other sessions", required=False, help_text="IDs or keys, separated by spaces."
    )
    match_q = forms.CharField(label="Name or key contains", required=False, max_length=200)
    match_agent = forms.CharField(label="Agent", required=False, max_length=200)
    match_user = forms.CharField(label="User", required=False, max_length=200)
    match_tag = forms.CharField(label="Tag", required=False, max_length=200)
    match_most = WholeNumber(
        label="Maximum number", required=False, initial=20, min_value=1, max_value=MOST_MATCHED
    )
    models = forms.CharField(label="Models", required=False, widget=ModelPicker(several=True))
    reason = area_field("Reason", "Stored with every replay. Required unless you search again.")
    spend_limit_usd = Number(
        label="Spend limit in US dollars",
        required=False,
        min_value=0,
        help_text="Per run, over all of its replays. A call starts only if its expected cost fits. Needs models with known prices.",
    )
    fail_on = forms.CharField(
        label="Fail on",
        required=False,
        help_text="Separated by commas: worse, new failure, numbers differ, altered, left out, cost:1.50. A run that meets one of these is marked.",
    )
    repeat = forms.ChoiceField(label="Runs", choices=REPEATS, required=False)
    hours = forms.IntegerField(
        label="Hours",
        required=False,
        initial=24,
        min_value=1,
        max_value=MOST_HOURS,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), _HOURS),
    )
    weekday = forms.ChoiceField(
        label="Weekday", required=False, choices=[(each, each.capitalize()) for each in WEEKDAYS]
    )
    at = forms.TimeField(
        label="Time",
        required=False,
        initial=time(6),
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time"}),
    )
    timezone = forms.ChoiceField(label="Time zone", required=False, initial="UTC")

    def __init__(
        self,
        choices: tuple[Choice, ...],
        offered: Sequence[Session],
        data: Any = None,
        *,
        estimating: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(data, **more)
        self.estimating = estimating
        self.fields["name"].required = not estimating
        models = self.fields["models"]
        cast("ModelPicker", models.widget).offer(choices, "models")
        models.help_text = f"{_MODELS} {server_hints(choices)}".strip()
        self.fields["embedding_model"] = forms.CharField(
            label="Embedding model",
            required=False,
            help_text="A model for which the collections have vectors.",
        )
        self._offer_timezones()
        cast("forms.MultipleChoiceField", self.fields["sessions"]).choices = [
            (str(each.id), each) for each in offered
        ]
        self.offered = offered

    def _offer_timezones(self) -> None:
        """Offer the time zones that this server knows, and the suite's own; an unknown one starts with an error at the field."""
        current = self.initial.get("timezone", "UTC")
        zones = sorted(timezones() | {current})
        cast("forms.ChoiceField", self.fields["timezone"]).choices = [(each, each) for each in zones]
        if current not in timezones() and not self.is_bound:
            self.errors["timezone"] = self.error_class([_UNKNOWN_ZONE])

    @property
    def chosen_sessions(self) -> Iterable[str]:
        return self["sessions"].value() or ()

    def plan(self, project: Project) -> SuitePlan:
        """Return the chosen suite. Raises `NotFound` for a missing session."""
        data = self.cleaned_data
        return SuitePlan(
            name=data["name"],
            sessions=self._sessions(project),
            options=self.session_options(),
            use_models=data["models"].replace(",", " ").split(),
            fail_on=[each.strip() for each in data["fail_on"].split(",") if each.strip()],
            schedule=self._schedule(),
            matching=self._matching(),
        )

    def _sessions(self, project: Project) -> list[Session] | None:
        """Return the selected sessions; None if none was offered and none is given instead of the deleted ones."""
        data = self.cleaned_data
        named = [*data["sessions"], *data["others"].split()]
        if not named and not self.initial.get("sessions") and self._matching() is None:
            return None
        return sessions_named(project, named)

    def _matching(self) -> Matching | None:
        data = self.cleaned_data
        texts = {name: data[f"match_{name}"] for name in MATCHED}
        return Matching(**texts, most=data["match_most"] or MOST_MATCHED) if any(texts.values()) else None

    def _schedule(self) -> str | None:
        data = self.cleaned_data
        at = f"{data['at'] or time(0):%H:%M} {data['timezone'] or 'UTC'}"
        written = {
            "every": f"every {data['hours'] or 24} hours",
            "daily": f"daily {at}",
            "weekly": f"weekly {data['weekday'] or WEEKDAYS[0]} {at}",
        }
        return written.get(data["repeat"])


def as_it_is(suite: Suite) -> dict[str, Any]:
    """Return the initial values of the form for an existing suite."""
    plan = plan_of(suite)
    return {
        **SuiteForm.initial_of(plan.options, ", ".join(plan.use_models)),
        "name": suite.name,
        "sessions": [str(each.id) for each in sessions_of(suite)],
        "fail_on": ", ".join(plan.fail_on),
        **{f"match_{name}": value for name, value in (suite.matching or {}).items()},
        **_timing(suite.schedule),
    }


def _timing(written: str | None) -> dict[str, Any]:
    if written is None:
        return {}
    found = schedule_as_written(written)
    if found.every_hours is not None:
        return {"repeat": "every", "hours": found.every_hours}
    weekly = {} if found.weekday is None else {"weekday": WEEKDAYS[found.weekday]}
    repeat = "daily" if found.weekday is None else "weekly"
    return {"repeat": repeat, "at": found.at, "timezone": found.timezone, **weekly}
