"""Calls of tools and models: a `with` block or a function, recorded when it ends, with input, output, duration and error."""

import contextlib
import functools
import inspect
import re
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from timemachine.core.pure.json_types import JsonObject

_OWN: Final = ("self", "cls")
_QUESTIONS: Final = ("messages", "input", "prompt", "question")
"""Names of the argument of a function that holds the question to a model."""

_DATE: Final = re.compile(r"-\d{4}[\d-]*")
"""What a provider adds to the name of a model that it resolved: `gpt-4o-2024-08-06`, `gpt-4-0613`."""


class Recorder(Protocol):
    """The session that records a call."""

    around: ContextVar[str | None]

    def next_id(self) -> str:
        """An id for an action."""

    def add(self, action: JsonObject) -> None:
        """Record it."""

    def snapshot(self, value: Any) -> Any:
        """A copy of the value."""


class Call:
    """One call: a context manager, or a decorator that records every call of a function.

    In the block, set `result` (or `output`, the same), for a model also `usage`, `cost_usd`, `model` and `parameters`, and any other
    field of an action, for example `error` for a failure without an exception. An exception is recorded and raised again. Steps
    recorded in the block are children of the call.
    """

    def __init__(
        self, recorder: Recorder, facts: JsonObject, *, given: Any = None, nests: bool = True
    ) -> None:
        self._recorder = recorder
        self._facts = facts
        self._given = given
        self._nests = nests
        self._token: Token[str | None] | None = None
        self.result: Any = None
        self.usage: Mapping[str, Any] | None = None
        self.cost_usd: float | None = None
        self.model: str | None = None
        self.parameters: Mapping[str, Any] | None = None

    if TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            """Any field of an action can be set."""

    @property
    def output(self) -> Any:
        """The same as `result`."""
        return self.result

    @output.setter
    def output(self, value: Any) -> None:
        self.result = value

    def __enter__(self) -> Self:
        self._id = self._recorder.next_id()
        self._parent = self._recorder.around.get()
        if self._nests:
            self._token = self._recorder.around.set(self._id)
        self._given = self._recorder.snapshot(self._given)
        self._started_at = time.time_ns()
        self._began = time.perf_counter_ns()
        return self

    def __exit__(self, _: object, failure: BaseException | None, __: object) -> None:
        took = (time.perf_counter_ns() - self._began) / 1e6
        if self._token is not None:
            self._recorder.around.reset(self._token)
        action = self._facts | {"started_at": self._started_at, "duration_ms": took, "input": self._given}
        action |= self._fields() | {"id": self._id, "parent": self._parent, "output": self.result}
        if failure is not None and not is_no_error(failure):
            action["error"] = failure
        if isinstance(action.get("error"), BaseException):
            error = action["error"]
            action["error"] = {"type": type(error).__name__, "message": _words(error)}
        self._recorder.add(action)

    def _fields(self) -> JsonObject:
        """The fields that the block set, except the result."""
        return {
            name: value
            for name, value in vars(self).items()
            if value is not None and name != "result" and not name.startswith("_")
        }

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, kind: object, failure: BaseException | None, at: object) -> None:
        self.__exit__(kind, failure, at)

    def __call__[F: Callable[..., Any]](self, function: F) -> F:
        facts = self._facts
        if facts.get("kind") == "tool_call" and facts.get("tool") is None:
            facts = facts | {"tool": getattr(function, "__name__", None)}
        return recorded(self._recorder, function, facts)


class ModelCall(Call):
    """A call of a function that asks a model. Model and usage are taken from its answer unless the function sets them.

    A decorator can name the model. If the answer, or without one the `model` that the function was given, is another
    one, that is recorded, as a model of the named provider.
    """

    def __init__(
        self, recorder: Recorder, facts: JsonObject, *, given: Any = None, nests: bool = True
    ) -> None:
        question, parameters = _split(given)
        super().__init__(recorder, facts, given=question, nests=nests)
        self.parameters = parameters

    def __exit__(self, kind: object, failure: BaseException | None, at: object) -> None:
        self.usage = _field_of(self.result, "usage")
        answered = _field_of(self.result, "model") if self.usage is not None else None
        sent = (self.parameters or {}).get("model")
        named = self._facts.get("model")
        model = next((each for each in (answered, sent if named else None) if isinstance(each, str)), None)
        self.model = _of_provider(named, model) if named and model else model
        super().__exit__(kind, failure, at)


def _of_provider(named: str, model: str) -> str:
    """The model as a model of the provider of the named one; the named one itself if it is the same or a dated version of it."""
    provider, colon, name = named.partition(":") if ":" in named else ("", "", named)
    if model in (named, name) or (model.startswith(name) and _DATE.fullmatch(model[len(name) :])):
        return named
    return model if colon and model.startswith(provider + colon) else f"{provider}{colon}{model}"


def _split(given: Any) -> tuple[Any, JsonObject | None]:
    """Split the arguments of a function into the question to the model and its parameters."""
    if not isinstance(given, dict):
        return given, None
    name = next((each for each in _QUESTIONS if each in given), None)
    if name is None:
        return (next(iter(given.values())), None) if len(given) == 1 else (given, None)
    return given[name], {each: given[each] for each in given if each != name} or None


def _field_of(result: Any, name: str) -> Any:
    """The field of an answer, or of the last part of a streamed one that has it; None if reading it fails."""
    parts = reversed(result) if isinstance(result, list) else (result,)
    with contextlib.suppress(Exception):
        for part in parts:
            found = part.get(name) if isinstance(part, Mapping) else getattr(part, name, None)
            if found is not None and not callable(found):
                return found
    return None


def recorded[F: Callable[..., Any]](recorder: Recorder, function: F, facts: JsonObject) -> F:
    """Wrap a function so that every call is recorded. A call of a generator ends with its last value; its result is all values."""
    arguments = _arguments_of(function)
    made_of = ModelCall if facts.get("kind") == "llm_call" else Call

    def call(args: tuple[Any, ...], kwargs: Mapping[str, Any], *, nests: bool = True) -> Call:
        return made_of(recorder, facts, given=arguments(args, kwargs), nests=nests)

    made: Any = functools.wraps(function)(_form_of(function)(function, call))
    return made  # type: ignore[no-any-return]


def _form_of(function: Callable[..., Any]) -> Any:
    if inspect.isasyncgenfunction(function):
        return _async_generator
    if inspect.iscoroutinefunction(function):
        return _coroutine
    return _generator if inspect.isgeneratorfunction(function) else _plain


def _plain(function: Any, call: Any) -> Any:
    def made(*args: Any, **kwargs: Any) -> Any:
        with call(args, kwargs) as running:
            running.result = function(*args, **kwargs)
        return running.result

    return made


def _coroutine(function: Any, call: Any) -> Any:
    async def made(*args: Any, **kwargs: Any) -> Any:
        with call(args, kwargs) as running:
            running.result = await function(*args, **kwargs)
        return running.result

    return made


def _generator(function: Any, call: Any) -> Any:
    """Steps recorded between two values belong to the reader, so they are not children of the call."""

    def made(*args: Any, **kwargs: Any) -> Any:
        with call(args, kwargs, nests=False) as running:
            running.result = []
            for each in function(*args, **kwargs):
                running.result.append(each)
                yield each

    return made


def _async_generator(function: Any, call: Any) -> Any:
    async def made(*args: Any, **kwargs: Any) -> Any:
        with call(args, kwargs, nests=False) as running:
            running.result = []
            async for each in function(*args, **kwargs):
                running.result.append(each)
                yield each

    return made


def _arguments_of(function: Callable[..., Any]) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Any]:
    """A function that names the arguments of a call, without `self` and `cls`."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return lambda args, kwargs: {"args": args, **kwargs}

    def named(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        try:
            found = signature.bind(*args, **kwargs).arguments
        except TypeError:  # the function raises its own error
            return {"args": args, **kwargs}
        return {name: value for name, value in found.items() if name not in _OWN}

    return named


def is_no_error(failure: BaseException) -> bool:
    """Whether the exception only ends a generator early, or exits the process with success."""
    return isinstance(failure, GeneratorExit) or (
        isinstance(failure, SystemExit) and failure.code in (None, 0)
    )


def _words(failure: BaseException) -> str:
    try:
        return str(failure)
    except Exception:  # noqa: BLE001  # code of the application
        return type(failure).__name__
