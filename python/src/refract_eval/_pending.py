"""Work that callers can wait for, blocking or asynchronously."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from ._client import Client
from ._metric import raised, spec
from .errors import RefractError

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
T_co = TypeVar("T_co", covariant=True)


class Pending(Protocol[T_co]):
    """Work that starts when a caller waits for it."""

    def wait(self) -> T_co:
        """Return the result."""

    async def awaited(self) -> T_co:
        """Return the result without blocking the event loop."""


@dataclass(frozen=True)
class Request(Generic[T]):
    """A request to a process, and how to read its result."""

    client: Client
    method: str
    params: Mapping[str, Any]
    read: Callable[[Any], T]

    def wait(self) -> T:
        """Return the result. An interruption cancels the request."""
        with self._raising():
            return self._read(self.client.call(self.method, self._params()))

    async def awaited(self) -> T:
        """Return the result. Cancelling the task cancels the request."""
        with self._raising():
            return self._read(await self.client.acall(self.method, self._params()))

    def _params(self) -> Mapping[str, Any]:
        """Name the functions as this process does, which may be a fork of the one that made the request."""
        if not self._functions:
            return self.params
        return {**self.params, "metrics": [m if isinstance(m, str) else spec(m) for m in self.params["metrics"]]}

    @property
    def _functions(self) -> bool:
        return any(not isinstance(m, str) for m in self.params.get("metrics", ()))

    def _read(self, result: Any) -> T:
        if self._functions and isinstance(result, dict):
            for why in (result.get("ended") or {}).values():
                if error := raised(why):
                    raise error
        return self.read(result)

    @contextlib.contextmanager
    def _raising(self) -> Iterator[None]:
        """Raise what a function raised in place of what the program says of it."""
        try:
            yield
        except RefractError as e:
            if self._functions and (error := raised(str(e))):
                raise error from error.__cause__
            raise


def waits(begin: Callable[P, Pending[T]]) -> Callable[[Callable[..., None]], Callable[P, T]]:
    """Make a function, whose name and documentation are given, of one that prepares work: it waits for the work."""

    def blocking(*args: P.args, **kwargs: P.kwargs) -> T:
        return begin(*args, **kwargs).wait()

    return lambda named: _present(blocking, begin, named)


def awaits(begin: Callable[P, Pending[T]]) -> Callable[[Callable[..., None]], Callable[P, Coroutine[Any, Any, T]]]:
    """Make such a function that is to be awaited."""

    async def awaitable(*args: P.args, **kwargs: P.kwargs) -> T:
        return await begin(*args, **kwargs).awaited()

    return lambda named: _present(awaitable, begin, named)


def _present(made: F, begin: Any, named: Any) -> F:
    """Give a function the name, arguments and documentation of a hand-written one."""
    functools.update_wrapper(made, named, ("__module__", "__name__", "__qualname__"), ())
    made.__doc__ = named.__doc__ or begin.__doc__
    made.__signature__ = inspect.signature(begin).replace(  # type: ignore[attr-defined]
        return_annotation=inspect.Signature.empty
    )
    if not named.__name__.startswith("a"):
        begin.__qualname__ = named.__qualname__  # the name in errors about wrong arguments
    return made
