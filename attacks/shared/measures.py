"""The measures that several attacks share, in words; `auditor/model/record/meaning.py` explains the braces."""

from __future__ import annotations

from functools import partial

from auditor.model.record.meaning import Better, Kind, Measure

count_measure = partial(Measure, kind=Kind.COUNT)
extreme_measure = partial(Measure, kind=Kind.EXTREME)
fact_measure = partial(Measure, kind=Kind.FACT)

CONFIDENCE = "confidence in the best guess"
RIGHT_LINK = "probability of the right link"
RANKED = "members ranked above {others} (0.5 is a coin)"


def value_measures(
    success: str, given: str = "be given their {column}", one: str = "", claimed: str = "value"
) -> tuple[Measure, ...]:
    """How sure a claimed value is, and how often it is true: `success` says the latter (`one` of one person), `given` what
    people can be, `claimed` what is claimed where it is no single value."""
    return (
        count_measure(
            "certain",
            f"How many people can be given one {claimed} with certainty.",
            f"{{of}} in this release can {given} with certainty{{by}}",
            label="certain claims",
            one="the person's {column} is certain to {who}",
            one_none="the person's {column} is not certain to {who}",
            right="certain_right",
            wrong="of {n} claims made with certainty {value} are wrong",
        ),
        count_measure(
            "certain_right",
            f"How many people are given one {claimed} with certainty, and it is the true one.",
            f"{{of}} in this release can {given} with certainty{{by}}",
            label="certain disclosure",
            one="the person's {column} is certain to {who}",
            one_none="the person's {column} is not certain to {who}",
        ),
        count_measure(
            "above",
            f"How many people can be given one {claimed} with a confidence above τ (the setting tau).",
            f"{{of}} can {given} with a confidence above {{percent_tau}}{{by}}",
            label="confident claims",
            right="above_right",
        ),
        count_measure(
            "above_right",
            f"How many people are given one {claimed} with a confidence above τ, and it is the true one; ties count 1/m.",
            f"{{of}} can {given}, rightly and with a confidence above {{percent_tau}}{{by}}",
            label="disclosure with high confidence",
        ),
        Measure(
            "success",
            f"Share of people for whom the likeliest {claimed} is the true one; among m tied ones it counts 1/m.",
            success,
            label="right guesses",
            one=one,
        ),
    )


def lift_measure(claimed: str) -> Measure:
    """How much likelier a claim is than it is of people at large."""
    return extreme_measure(
        "lift_max",
        "The highest belief in a claim, as a multiple of its share among people at large.",
        f"for the most exposed person, {claimed} is {{value}} times as likely as for people at large{{seen}}",
        label="highest lift",
    )


def record_measures(success: str) -> tuple[Measure, ...]:
    """How likely a person is linked to their own record; `success` says how often the named record is theirs."""
    links = "{who} links the person to their own record with {sure}"
    return (
        extreme_measure(
            "max",
            "The highest probability of linking a person to their own record.",
            "the most exposed person is linked to their own record with probability {one_in}{by}",
            label="highest risk",
            one=links,
        ),
        Measure(
            "mean",
            "The mean probability of linking a person to their own record.",
            "on average a person is linked to their own record with probability {one_in}{by}",
            label="mean risk",
            everybody="everybody can be linked to their own record with certainty{by}",
            one=links,
        ),
        count_measure(
            "at_risk",
            "How many people are linked to their own record with a probability above the threshold.",
            "{of} can be linked to their own record with a probability above {percent_threshold}{by}",
            label="people at risk",
        ),
        Measure(
            "success",
            "Share of people for whom the record named is their own; among m equally likely ones it counts 1/m.",
            success,
            label="right links",
            one=links,
        ),
        count_measure(
            "class_found",
            "How many people's true class got the most belief.",
            "the right class was named for {of}{by}",
            label="classes found",
            one="the person's class is found",
            one_none="the person's class is not found",
        ),
        extreme_measure(
            "household_max",
            "The highest probability, over households, of linking anybody of them to their own record: 1 − Π(1 − r) over the "
            "people of the household.",
            "in the most exposed household somebody is linked to their own record with probability {one_in}{by}",
            label="highest risk of a household",
        ),
        Measure(
            "household_mean",
            "The mean over households of the probability of linking anybody of them to their own record.",
            "on average somebody of a household is linked to their own record with probability {one_in}{by}",
            label="mean risk of a household",
        ),
        Measure(
            "household_at_risk",
            "The share of households of which somebody is linked to their own record with a probability above the threshold.",
            "in {rate} of {n} households somebody can be linked to their own record with a probability above "
            "{percent_threshold}{by}",
            label="households at risk",
        ),
    )


def near_measures() -> tuple[Measure, ...]:
    """How much belief lies near a person's true number."""
    return (
        extreme_measure(
            "max",
            "The highest share of the belief that lies within ±ε of a person's true number.",
            "for the most exposed person, {rate} of the belief about their {column} lies {near} the truth{seen}",
            label="highest belief near the truth",
        ),
        Measure(
            "mean",
            "The mean share of the belief that lies within ±ε of a person's true number.",
            "on average {rate} of the belief about a person's {column} lies {near} the truth{seen}",
            label="mean belief near the truth",
        ),
        extreme_measure(
            "window",
            "The largest share of the belief about one person that falls into an interval of the given width.",
            "at most {rate} of the belief about one person's {column} falls into {width}{seen}",
            label="strongest belief in an interval",
        ),
    )


def _recognised(level: float) -> Measure:
    """How many members are recognised at a false-positive rate."""
    one_in = f"one in {round(1 / level)}"
    return Measure(
        f"tpr_at_fpr_{level:g}",
        f"Share of members recognised while {one_in} outsiders is called a member in error.",
        f"while {one_in} {{others}} is called a member in error, {{rate}} of the members are recognised{{by}}",
        label=f"members recognised, {one_in} others accused",
    )


def member_measures() -> tuple[Measure, ...]:
    """How well members are told from people who are not in the data."""
    return (
        Measure(
            "auc",
            "How often a member is ranked above an outsider: 0.5 is a coin, 1 is always.",
            "{who} tells a person who is in the data from {other} in {rate} of pairs{bounds}; a coin toss would in half",
            label="members told from others",
            one="{who} takes the person for a member before {rate} of {others}",
        ),
        Measure(
            "advantage",
            "Share called members among members, less the share among outsiders, at a cut-off chosen on other people.",
            "at a cut-off chosen on other people, the share called members is {points} percentage points higher among "
            "members than among {others}{seen}",
            label="advantage at a cut-off",
        ),
        _recognised(0.01),
        _recognised(0.001),
        Measure(
            "success",
            "Share of people, members or not, of whom it is guessed rightly whether they are in the data.",
            "{who} guesses rightly whether somebody is in the data for {share}",
            label="right guesses of membership",
        ),
    )


MATCHED = (
    Measure(
        "no_match",
        "Share of outsiders who match nothing that is published: they are known for certain to be out.",
        "{rate} of outsiders match nothing that is published, so that they are known for certain to be out{seen}",
        label="outsiders who match nothing",
    ),
    Measure(
        "fakes",
        "How many made-up people match the release; the more do, the less a match says.",
        "{value} of {n} made-up people match the release as if they were in it{seen}",
        label="made-up people who match",
        kind=Kind.COUNT,
        better=Better.HIGHER,
        none="none of {n} made-up people matches the release{seen}",
    ),
)
