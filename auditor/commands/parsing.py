"""What the commands share: reading their options, writing their results, showing progress. Imports are lazy here too."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.posterior.links import Link


def setting_pair(text: str) -> tuple[str, str]:
    """The name and value of one --set."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise UsageError(f"--set must be NAME=VALUE. Got {text!r}.")
    return key.strip(), value.strip()


def attack_settings(texts: list[str]) -> dict[str, dict[str, str]]:
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


def names(text: str | None) -> tuple[str, ...] | None:
    """The names in a list by commas."""
    if text is None:
        return None
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if not found:
        raise UsageError("A list of names must not be empty.")
    return found


def link_models(text: str | None) -> tuple[Link, ...] | None:
    """The link models that --link names."""
    from auditor.posterior.links import Link

    wanted = names(text)
    if wanted is None:
        return None
    unknown = [name for name in wanted if name not in list(Link)]
    if unknown:
        near = difflib.get_close_matches(unknown[0], list(Link), n=1)
        hint = f" Did you mean {str(near[0])!r}?" if near else ""
        raise UsageError(f"--link must be one of {', '.join(Link)}. Got {unknown[0]!r}.{hint}")
    return tuple(Link(name) for name in wanted)


def measures(text: str | None) -> tuple[str, ...] | None:
    """The utility measures that --utility names; () for `none`."""
    from auditor.measure.utility import find_measures

    wanted = names(text)
    return None if wanted is None else find_measures(wanted)


def conventions(suppression: str, weighting: str) -> dict[str, Any]:
    """The options that say how suppressed rows and buckets count."""
    from auditor.model.release import Suppression
    from auditor.posterior.links import Weighting

    if suppression not in list(Suppression):
        raise UsageError(f"--suppression must be one of {', '.join(Suppression)}. Got {suppression!r}.")
    if weighting not in list(Weighting):
        raise UsageError(f"--weighting must be one of {', '.join(Weighting)}. Got {weighting!r}.")
    return {"suppression": Suppression(suppression), "weighting": Weighting(weighting)}


def adversaries(knows: str | None, register: bool) -> dict[str, Any]:
    """The option that says who attacks, where --knows restricts what they know."""
    from dataclasses import replace

    from scenarios.adversaries import JOURNALIST, MARKETER, PROSECUTOR

    if knows is None:
        return {}
    people = (PROSECUTOR, JOURNALIST, MARKETER) if register else (PROSECUTOR,)
    return {"adversaries": tuple(replace(person, knows=names(knows)) for person in people)}


def listed_targets(text: str) -> list[str]:
    """The people that --targets names."""
    if text.startswith("@"):
        try:
            lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--targets: {text[1:]} cannot be read ({error}).") from error
        named = [line.strip() for line in lines if line.strip()]
    else:
        named = [part.strip() for part in text.split(",") if part.strip()]
    if not named:
        raise UsageError("--targets names nobody.")
    return named
