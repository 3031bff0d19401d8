"""Calls of tools and models: a `with` block or a function, recorded when it is over, with what it took, gave or failed of."""

import contextlib
import functools
import inspect
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

_OWN: Final = ("self", "cls")
_QUESTIONS: Final = ("messages", "input", "prompt", "question")
"""What functions that ask a model call what they ask."""


class Recorder(Protocol):
    """Who takes what a call came to."""

    around: ContextVar[str | None]

    def next_id(self) -> str:
        """An id for an action."""

    def add(self, action: dict[str, Any]) -> None:
        """Record it."""

    def kept(self, value: Any) -> Any:
        """The value as it is now."""


class Call:
    """One call: a block (`with`, `async with`), or what makes a function record its calls.

    In its block set `result` (or `output`, which is the same), for a model `usage`, `cost_usd`, `model` and `parameters`, and any other field of an
    action, as `error` for what failed without an exception. One that leaves the block is recorded, and goes on as it was. What is recorded
    within it stands under it.
    """

    def __init__(
        self, recorder: Recorder, facts: dict[str, Any], *, given: Any = None, nests: bool = True
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
            """Any field of an action may be set."""

    @property
    def output(self) -> Any:
        """What the call gave."""
        return self.result

    @output.setter
    def output(self, value: Any) -> None:
        self.result = value

    def __enter__(self) -> Self:
        self._id = self._recorder.next_id()
        self._parent = self._recorder.around.get()
        if self._nests:
            self._token = self._recorder.around.set(self._id)
        self._given = self._recorder.kept(self._given)
        self._started_at = time.time_ns()
        self._began = time.perf_counter_ns()
        return self

    def __exit__(self, _: object, failure: BaseException | None, __: object) -> None:
        took = (time.perf_counter_ns() - self._began) / 1e6
        if self._token is not None:
            self._recorder.around.reset(self._token)
        action = self._facts | {"started_at": self._started_at, "duration_ms": took, "input": self._given}
        action |= self._said() | {"id": self._id, "parent": self._parent, "output": self.result}
        if failure is not None and not is_no_error(failure):
            action["error"] = failure
        if isinstance(action.get("error"), BaseException):
            action["error"] = _as_error(action["error"])
        self._recorder.add(action)

    def _said(self) -> dict[str, Any]:
        """What the block set beside its result."""
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
    """A call of a function that asks a model: what its answer says of its model and its tokens is the call's, where the function sets nothing."""

    def __init__(
        self, recorder: Recorder, facts: dict[str, Any], *, given: Any = None, nests: bool = True
    ) -> None:
        asked, parameters = _asked(given)
        super().__init__(recorder, facts, given=asked, nests=nests)
        self.parameters = parameters

    def __exit__(self, kind: object, failure: BaseException | None, at: object) -> None:
        self.usage = _told(self.result, "usage")
        if self.usage is not None and "model" not in self._facts:
            model = _told(self.result, "model")
            self.model = model if isinstance(model, str) else None
        super().__exit__(kind, failure, at)


def _asked(given: Any) -> tuple[Any, dict[str, Any] | None]:
    """What a model was asked, of the arguments of a function, and its parameters: the others."""
    if not isinstance(given, dict):
        return given, None
    name = next((each for each in _QUESTIONS if each in given), None)
    if name is None:
        return (next(iter(given.values())), None) if len(given) == 1 else (given, None)
    return given[name], {each: given[each] for each in given if each != name} or None


def _told(result: Any, name: str) -> Any:
    """What an answer, or the last part of one that says it, has under the name; one that fails when it is asked says nothing."""
    parts = reversed(result) if isinstance(result, list) else (result,)
    with contextlib.suppress(Exception):
        for part in parts:
            found = part.get(name) if isinstance(part, Mapping) else getattr(part, name, None)
            if found is not None and not callable(found):
                return found
    return None


def recorded[F: Callable[..., Any]](recorder: Recorder, function: F, facts: dict[str, Any]) -> F:
    """The function, each call of which is recorded; a generator is over when it is read to its end, its result is all that it gave."""
    arguments = _arguments_of(function)
    made_of = ModelCall if facts.get("kind") == "llm_call" else Call

    def call(args: tuple[Any, ...], kwargs: dict[str, Any], *, nests: bool = True) -> Call:
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
        with call(args, kwargs) as under_way:
            under_way.result = function(*args, **kwargs)
        return under_way.result

    return made


def _coroutine(function: Any, call: Any) -> Any:
    async def made(*args: Any, **kwargs: Any) -> Any:
        with call(args, kwargs) as under_way:
            under_way.result = await function(*args, **kwargs)
        return under_way.result

    return made


def _generator(function: Any, call: Any) -> Any:
    """What is recorded between two of its values is its reader's, and does not stand under it."""

    def made(*args: Any, **kwargs: Any) -> Any:
        with call(args, kwargs, nests=False) as under_way:
            under_way.result = []
            for each in function(*args, **kwargs):
                under_way.result.append(each)
                yield each

    return made


def _async_generator(function: Any, call: Any) -> Any:
    async def made(*args: Any, **kwargs: Any) -> Any:
        with call(args, kwargs, nests=False) as under_way:
            under_way.result = []
            async for each in function(*args, **kwargs):
                under_way.result.append(each)
                yield each

    return made


def _arguments_of(function: Callable[..., Any]) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
    """What names the arguments of a call, without the object whose method it is."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return lambda args, kwargs: {"args": args, **kwargs}

    def named(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            found = signature.bind(*args, **kwargs).arguments
        except TypeError:  # the function itself says what is wrong with them
            return {"args": args, **kwargs}
        return {name: value for name, value in found.items() if name not in _OWN}

    return named


def is_no_error(failure: BaseException) -> bool:
    """Whether it only ends what runs: the reader of a generator has enough, or the program leaves and says that all is well."""
    return isinstance(failure, GeneratorExit) or (
        isinstance(failure, SystemExit) and failure.code in (None, 0)
    )


def _as_error(failure: BaseException) -> dict[str, str]:
    return {"type": type(failure).__name__, "message": _words(failure)}


def _words(failure: BaseException) -> str:
    try:
        return str(failure)
    except Exception:  # noqa: BLE001  # anybody's own code
        return type(failure).__name__
