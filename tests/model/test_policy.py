"""Policy files: what they may say, and each fault with its place. How figures are judged is tested with the audits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from auditor.model.errors import PolicyError, UsageError
from auditor.model.record.policy import OF_ALL, OF_SAMPLE, Check, builtin_policies, parse_policy, read_policy
from auditor.model.record.record import Risk
from auditor.model.record.release_facts import RegisterRisk, ReleaseFacts

CHECK = {"figure": "release.k", "at_least": 3}


def test_the_built_in_policies_are_read() -> None:
    assert {"ema", "k5"} <= set(builtin_policies())
    for name, policy in builtin_policies().items():
        assert policy.name == name
        assert policy.checks
        assert policy.source != "the user's own"


def test_a_policy_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "Ours"\nsource = "a book"\n[[check]]\nfigure = "linking.max"\nat_most = 0.09\nadversary = "boss"\n'
        'link = "likelihood"\nsource = "page 7"\n[[check]]\nfigure = "release.k"\nat_least = 3\n'
    )
    policy = read_policy(str(file))
    assert (policy.name, policy.title, policy.source) == ("mine", "Ours", "a book")
    assert policy.checks == (
        Check("linking.max", "<=", 0.09, "boss", "likelihood", "page 7"),
        Check("release.k", ">=", 3.0, "prosecutor", "class", None),
    )
    links = [{"figure": "linking.max", "at_most": 1, "adversary": who} for who in ("boss", "journalist")]
    assert [check.link for check in parse_policy("links", {"check": links}).checks] == ["own", "class"]
    bare = parse_policy("bare", {"check": [CHECK]})
    assert (bare.title, bare.source) == ("bare", "the user's own")


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ({}, "mine: there must be at least one [[check]]."),
        ({"check": []}, "mine: there must be at least one [[check]]."),
        ({"check": [CHECK], "titel": "x"}, "mine: unknown key 'titel'. Did you mean 'title'?"),
        ({"check": [CHECK], "title": 3}, "mine: title must be a text. Got 3."),
        ({"check": [7]}, "mine, check 1 must be a table with figure and at_most or at_least. Got 7."),
        ({"check": [{"at_most": 1}]}, 'mine, check 1: figure must be given, "ATTACK.MEASURE" or "release.FIGURE".'),
        (
            {"check": [{**CHECK, "figure": "k"}]},
            'mine, check 1: figure must be "ATTACK.MEASURE" or "release.FIGURE". Got \'k\'.',
        ),
        ({"check": [{**CHECK, "figure": "release.clases"}]}, "has no figure 'clases'. Did you mean 'classes'?"),
        ({"check": [{**CHECK, "figure": "release.size"}]}, "has no figure 'size'. It has: k, k_joined, classes,"),
        ({"check": [{**CHECK, "adversary": 3}]}, "mine, check 1: adversary must be a text. Got 3."),
        ({"check": [{**CHECK, "at_most": 9}]}, "mine, check 1: at_most or at_least must give one number."),
        ({"check": [{"figure": "linking.max"}]}, "mine, check 1: at_most or at_least must give one number."),
    ],
)
def test_faults(data: dict[str, Any], fault: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy("mine", data, "mine")
    assert len(caught.value.faults) == 1
    assert fault in str(caught.value)


def test_all_faults_at_once() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy("mine", {"rules": 1, "check": [{"figure": "k", "limit": 3}, {"figure": "release.size"}]})
    assert [fault.split(": ")[0] for fault in caught.value.faults] == [
        "policy mine",
        *["policy mine, check 1"] * 3,
        *["policy mine, check 2"] * 2,
    ]


def test_policies_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no policy 'emaa'\. Did you mean 'ema'\? The built-in ones are .*TOML file\."
    ):
        read_policy("emaa")
    file = tmp_path / "mine.toml"
    file.write_text("[[check]\n")
    with pytest.raises(PolicyError, match=r"mine\.toml: the policy must be TOML\."):
        read_policy(str(file))
    file.write_bytes("title = 'é'".encode("cp1252"))
    with pytest.raises(PolicyError, match=r"mine\.toml: the policy must be UTF-8 text"):
        read_policy(str(file))


@pytest.mark.parametrize(
    ("register", "passed", "reason"),
    [
        (None, None, "no population was given (--population)"),
        (RegisterRisk(900, 0.2, journalist_max=1 / 12, journalist_mean=0.01), True, None),
        (RegisterRisk(900, 0.2, journalist_max=1 / 11, journalist_mean=0.01), False, None),
        (RegisterRisk(900, 0.2, reason="it has no such column"), None, "it has no such column"),
    ],
)
def test_the_journalist_is_judged_by_the_population(
    register: RegisterRisk | None, passed: bool | None, reason: str | None
) -> None:
    # a class of one record passes where twelve people of the population fit it
    release = ReleaseFacts("r", "generalised", 9, 0, "excluded", 9, 1, {"1": 9}, register=register)
    verdict = read_policy("journalist").judge(release, (), ())
    assert (verdict.checks[0].passed, verdict.checks[0].reason) == (passed, reason)
    assert verdict.passed is (passed is True)


@pytest.mark.parametrize(
    ("sampled", "detail", "judged"),
    [
        (False, {}, (True, 0.55, None)),  # a figure of all people is what it is
        (False, {OF_SAMPLE: True}, (False, 0.7, 0.55)),
        (True, {}, (False, 0.7, 0.55)),
        (True, {OF_ALL: True}, (True, 0.55, None)),
    ],
)
def test_an_estimate_is_judged_by_the_worse_end_of_its_interval(
    sampled: bool, detail: dict[str, bool], judged: tuple[bool, float, float | None]
) -> None:
    release = ReleaseFacts("r", "generalised", 9, 0, "excluded", 9, 1, {"1": 9})
    policy = parse_policy("mine", {"check": [{"figure": "membership.auc", "at_most": 0.6}]})
    risk = Risk("membership", "prosecutor", None, "auc", value=0.55, low=0.4, high=0.7, detail=detail)
    (check,) = policy.judge(release, [risk], (), sampled).checks
    assert (check.passed, check.value, check.estimate) == judged
