"""Reading the values of options: the texts that users type become names, numbers, settings and choices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from auditor.model.errors import UsageError
from auditor.model.faults import hint

if TYPE_CHECKING:
    from auditor.posterior.links import Link
    from scenarios.adversaries import Adversary

Choice = TypeVar("Choice", bound=StrEnum)
_OPEN, _CLOSE = "[{", "]}"


def names(text: str | None) -> tuple[str, ...] | None:
    """The names in a comma-separated list."""
    if text is None:
        return None
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if not found:
        raise UsageError("A list of names must not be empty.")
    return found


def numbers(text: str | None, option: str) -> tuple[int, ...]:
    """The whole numbers in a comma-separated list, each once."""
    return tuple(number for number in numbers_or_none(text, option, "") if number is not None)


def numbers_or_none(text: str | None, option: str, word: str = "none") -> tuple[int | None, ...]:
    """The same, where the word `none` may stand in the list."""
    found: list[int | None] = []
    for part in names(text) or ():
        if part == word:
            found.append(None)
        elif part.isascii() and part.isdigit():
            found.append(int(part))
        else:
            or_none = f", or {word}" if word else ""
            raise UsageError(
                f"{option} must be whole numbers separated by commas{or_none}, such as {option} 2,3. Got {part!r}."
            )
    return tuple(dict.fromkeys(found))


def values(text: str) -> list[str]:
    """The values in a comma-separated list; commas inside brackets and quotes belong to a value."""
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in _OPEN:
            depth += 1
        elif sign in _CLOSE:
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += sign
    found = [part.strip() for part in parts]
    if not all(found):
        raise UsageError(f"--set must give values separated by commas. Got {text!r}.")
    return found


def choice(text: str, kind: type[Choice], option: str) -> Choice:
    """A member of an enumeration, by its name on the command line."""
    if text not in list(kind):
        raise UsageError(f"{option} must be one of {', '.join(kind)}. Got {text!r}.{hint(text, kind)}")
    return kind(text)


def listed_in(text: str, option: str) -> str | None:
    """The content of the file that @FILE names; None where the value of the option is not written so."""
    if not text.startswith("@"):
        return None
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{option}: {text[1:]} cannot be read ({error}).") from error


def setting_pair(text: str) -> tuple[str, str]:
    """The name and value of one --set."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise UsageError(f"--set must be NAME=VALUE. Got {text!r}.")
    return key.strip(), value.strip()


def attack_settings(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """The settings of each attack, from --set ATTACK.NAME=VALUE."""
    settings: dict[str, dict[str, str]] = {}
    for text in texts:
        key, value = setting_pair(text)
        attack, sign, name = key.partition(".")
        if not sign:
            raise UsageError(
                f"--set must name the attack, ATTACK.NAME=VALUE, such as proximity.epsilon=5. Got {text!r}."
            )
        settings.setdefault(attack, {})[name] = value
    return settings


def link_models(text: str | None) -> tuple[Link, ...] | None:
    """The link models that --link names."""
    from auditor.posterior.links import Link

    wanted = names(text)
    return None if wanted is None else tuple(choice(name, Link, "--link") for name in wanted)


def measures(text: str | None) -> tuple[str, ...] | None:
    """The utility measures that --utility names; () for `none`."""
    from auditor.measure.utility import find_measures

    wanted = names(text)
    return None if wanted is None else find_measures(wanted)


def facts_known(text: str) -> tuple[int, ...]:
    """The numbers of facts that --facts names."""
    from scenarios.options import MOST_FACTS

    found = numbers(text, "--facts")
    if max(found) > MOST_FACTS:
        raise UsageError(f"--facts must be at most {MOST_FACTS}. Got {max(found)}.")
    return found


def adversaries(knows: str | None, population: bool) -> tuple[Adversary, ...] | None:
    """Who attacks where --knows limits what they know; None for the default adversaries."""
    from scenarios.adversaries import JOURNALIST, MARKETER, PROSECUTOR

    if knows is None:
        return None
    people = (PROSECUTOR, JOURNALIST, MARKETER) if population else (PROSECUTOR,)
    return tuple(replace(person, knows=names(knows)) for person in people)


def listed_targets(text: str) -> list[str]:
    """The people that --targets names: separated by commas, or one on each line of a file."""
    content = listed_in(text, "--targets")
    parts = text.split(",") if content is None else content.splitlines()
    named = [part.strip() for part in parts if part.strip()]
    if not named:
        raise UsageError("--targets names nobody.")
    return named
