"""Results that are kept with what they were computed from, and go when it goes.

An audit asks the same of a release again and again: for each adversary, link model and attack. A function with `@kept`
remembers its results in the `memory` of its first argument, by the further ones; arrays among these are told apart by
identity. Of each function the last `most` results are kept. Nobody may change a result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


class Memory(dict[Any, Any]):
    """What was computed of an object. It does not go with it to another process."""

    def __reduce__(self) -> tuple[type[Memory], tuple[()]]:
        return Memory, ()


def kept(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keeps the results of a function in the memory of its first argument; all arguments are given by position."""

    def keeping(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def remembered(*given: P.args, **named: P.kwargs) -> R:
            if named:
                raise TypeError(
                    f"{function.__qualname__} is kept by position: give {', '.join(named)} without its name."
                )
            whole: Any = given[0]
            own = whole.memory.setdefault(function, {})
            rest = given[1:]
            key = tuple(id(one) if isinstance(one, np.ndarray) else one for one in rest)
            entry = own.get(key)
            if entry is None:
                entry = own[key] = rest, function(*given, **named)  # holds the arrays, so that no other has their ids
                if len(own) > most:
                    del own[next(iter(own))]
            result: R = entry[1]
            return result

        return remembered

    return keeping
