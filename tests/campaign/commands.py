"""A valid draft for each command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from random import Random

from anonymizers import ANONYMIZERS
from tests.campaign import asking, making, notations, odd, people
from tests.campaign.drafts import Draft
from tests.campaign.making import Made
from tests.campaign.parts import Blob, Grid
from tests.campaign.people import People


def _with_table(command: str, rng: Random, data: bool = True) -> tuple[Draft, People]:
    """A draft with a table and its schema."""
    drawn = people.draw(rng)
    draft = Draft(command, canaries=list(drawn.canaries))
    if data:
        draft.files["data.csv"] = drawn.grid
    draft.files["schema.toml"] = drawn.schema()
    draft.files |= drawn.taxonomies
    if drawn.linked is not None:
        draft.files["visits.csv"] = drawn.linked
    return draft, drawn


def _finished(draft: Draft, rng: Random) -> Draft:
    """With an option or two that every command has."""
    if rng.random() < 0.15:
        draft.ask("--quiet")
    if rng.random() < 0.1:
        draft.ask("--force")
    return draft


def anonymize(rng: Random) -> Draft:
    """A release of a table."""
    draft, _ = _with_table("anonymize", rng)
    method = rng.choice(making.METHODS)
    draft.given = ["data.csv"]
    draft.ask("--schema", "schema.toml")
    draft.ask("--method", method)
    for name, value in making.settings(method, rng).items():
        draft.ask("--set", f"{name}={value}")
    if rng.random() < 0.07:
        names = [one.name for one in fields(ANONYMIZERS.get(method))]
        draft.ask("--set", f"{rng.choice(names or ['x'])}={rng.choice((*odd.REAL, *odd.WHOLE, 'true', '[]', '[[1]]'))}")
    draft.write("-o", rng.choice(("out.csv", "out.csv", "out.parquet")), "release")
    held = rng.random() < 0.1
    if held:
        draft.ask("--holdout", rng.choice(("0.2", "0.5", "0", "1", "0.999")))
    if rng.random() < (0.9 if held else 0.5):
        draft.write("--provenance", "whose.csv", "text")
    if method == "grading" and rng.random() < 0.8:
        draft.write("--key", "key.json", "json")
    if rng.random() < 0.3:
        draft.files["secret.txt"] = Blob("secret", rng.randbytes(32).hex().encode())
        draft.ask("--secret", "secret.txt")
    if rng.random() < 0.08:
        draft.ask("--blocks")
        draft.ask("--block-rows", rng.choice(("1", "5", "20")))
        draft.ask("--jobs", "1")
        if rng.random() < 0.3:
            draft.ask("--compare-whole")
    return _finished(draft, rng)


def _release(draft: Draft, drawn: People, rng: Random, method: str | None = None) -> Made | None:
    """Adds a release to a draft: made by a method, or written by hand."""
    made = making.release(drawn, rng, method) if rng.random() < 0.6 else None
    if made is None:
        draft.files["release.csv"] = notations.written(drawn, rng)
        draft.given = ["release.csv"]
        return None
    draft.files |= made.files
    draft.given = [made.name]
    return made


def _original(draft: Draft, drawn: People, made: Made | None, rng: Random) -> None:
    """Adds the original, and how its rows correspond to the release."""
    draft.files["data.csv"] = drawn.grid
    draft.ask("--original", "data.csv")
    if rng.random() < 0.15:
        draft.ask("--no-match")
        for option, name in (("--holdout", "holdout.csv"), ("--reference", "reference.csv")):
            if rng.random() < 0.6:
                draft.files[name] = people.strangers(drawn, rng)
                draft.ask(option, name)
        return
    if made is None:
        key = [name for name in drawn.names("identifier") if name in _header(draft)]
        draft.ask("--match", key[0] if key and rng.random() < 0.6 else "rows")
        return
    if rng.random() < 0.7 and "release" in made.provenance.header:
        for row in made.provenance.rows:
            row[made.provenance.header.index("release")] = ""  # as other tools and older versions have it
    draft.files["whose.csv"] = made.provenance
    draft.ask("--provenance", "whose.csv")


def _header(draft: Draft) -> list[str]:
    part = draft.files[draft.given[0]]
    return part.header if isinstance(part, Grid) else []


def audit(rng: Random) -> Draft:
    """An audit, with or without an original, a population, a policy."""
    draft, drawn = _with_table("audit", rng, data=False)
    made = _release(draft, drawn, rng)
    draft.ask("--schema", "schema.toml")
    explained = rng.random() < 0.08
    with_original = rng.random() < 0.55
    if with_original and not explained:
        _original(draft, drawn, made, rng)
    if rng.random() < 0.25:
        draft.files["population.csv"] = people.population(drawn, rng)
        draft.ask("--population", "population.csv")
    if explained:
        draft.ask("--explain-labels")
        if rng.random() < 0.5:
            draft.write("--json", "a.json", "json")
        return _finished(draft, rng)
    asking.audit_options(draft, drawn, rng)
    if rng.random() < 0.35:
        own = rng.random() < 0.5
        draft.ask("--policy", "rules.toml" if own else rng.choice(asking.POLICIES))
        if own:
            draft.files["rules.toml"] = asking.policy(rng)
        if rng.random() < 0.2:
            draft.write("--junit", "a.xml", "xml")
    elif with_original and rng.random() < 0.15:
        draft.ask("--targets", rng.choice(("1", "1,2", "2,3,5", "age=30", "sex=F")))
    if rng.random() < 0.06:
        draft.ask("--reveal")
    if not with_original and rng.random() < 0.08:
        draft.ask("--engine", "duckdb")
        if made is None and rng.random() < 0.4:  # a folder of files
            draft.files |= {f"parts/{place}.csv": draft.files["release.csv"].copy() for place in range(2)}
            draft.given = ["parts"]
    asking.reports(draft, rng)
    return _finished(draft, rng)


def mend(rng: Random) -> Draft:
    """A mended release."""
    draft, drawn = _with_table("mend", rng, data=False)
    made = _release(draft, drawn, rng, rng.choice(("mondrian", "kmember", "identity", "kaca", None)))
    draft.ask("--schema", "schema.toml")
    columns = drawn.quasi or ["x"]
    steps = {
        "--coarsen": lambda: rng.choice(columns) + rng.choice(("", "=1", "=2", "=9")),
        "--suppress-below": lambda: rng.choice(("2", "3", "50")),
        "--suppress": lambda: rng.choice(("l_distinct<2", "alpha>0.5", "k<3", "t_equal>0.1", "l_recursive_c>1")),
        "--suppress-rows": lambda: rng.choice(("1", "1,2", "3,3,4")),
        "--drop": lambda: rng.choice(drawn.published or ["x"]),
    }
    for option in rng.sample(sorted(steps), rng.choice((1, 1, 2, 3))):
        draft.ask(option, steps[option]())
    draft.write("-o", rng.choice(("out.csv", "out.csv", "out.parquet")), "release")
    if made is not None and rng.random() < 0.4:
        draft.files["whose.csv"] = made.provenance
        draft.ask("--provenance", "whose.csv")
        draft.write("--new-provenance", "new.csv", "text")
    return _finished(draft, rng)


def profile(rng: Random) -> Draft:
    """A proposal of a schema."""
    drawn = people.draw(rng)
    draft = Draft("profile", ["data.csv"], canaries=list(drawn.canaries))
    draft.files["data.csv"] = drawn.grid if rng.random() < 0.7 else notations.written(drawn, rng)
    if draft.files["data.csv"].kind == "release":
        draft.ask("--release")
    if rng.random() < 0.6:
        draft.write("-o", "proposed.toml", "text")
        draft.outputs["proposed-hierarchies"] = "maybe"
    if rng.random() < 0.4:
        draft.ask("--taxonomies", rng.choice(("none", "texts", "all")))
    if rng.random() < 0.4:
        draft.write("--json", "profile.json", "json")
    return _finished(draft, rng)


def decode(rng: Random) -> Draft:
    """Published values back to original ones."""
    drawn = people.chosen(rng)
    made = None
    while made is None or made.key is None:
        made = making.release(drawn, rng, "grading")
    draft = Draft("decode", [made.name], canaries=["canary4711q"])
    draft.files |= made.files
    table = made.files[made.name]
    if isinstance(table, Grid) and rng.random() < 0.3:
        rng.choice(table.rows)[0] = "canary4711q"
    draft.files["key.json"] = made.key
    if rng.random() < 0.4:
        aliases = [
            row[alias] for row in made.key.data["columns"]["disease"]["aliases"] for alias in ("alias1", "alias2")
        ]
        rules = [f"age <= {rng.uniform(1, 5):.3f} and disease = {rng.choice(aliases)} -> income in [1.2, 3.4]"] * 3
        draft.files["rules.txt"] = Blob("text", "\n".join(rules).encode())
        draft.given = ["rules.txt"]
        if rng.random() < 0.6:
            draft.ask("--column", rng.choice(("income", "age", "disease")))
    draft.ask("--key", "key.json")
    if rng.random() < 0.6:
        draft.write("-o", rng.choice(("out.csv", "out.parquet", "out.txt")), "decoded")
    return _finished(draft, rng)


def render(rng: Random) -> Draft:
    """Reports of old records."""
    draft = Draft("render")
    for number in range(rng.choice((1, 1, 1, 2))):
        draft.files[f"record{number}.json"] = making.record(rng)
        draft.given.append(f"record{number}.json")
    for option, (name, form) in (("--html", ("a.html", "html")), ("--markdown", ("a.md", "text"))):
        if rng.random() < 0.6:
            draft.write(option, name, form)
    if rng.random() < 0.15:
        draft.write("--junit", "a.xml", "xml")
    if rng.random() < 0.08:
        draft.write("--plots", "plots", "plots")
        draft.write("--tables", "tables", "plots")
    return _finished(draft, rng)


def redteam(rng: Random) -> Draft:
    """A scenario."""
    draft, drawn = _with_table("redteam", rng)
    draft.given = ["scenario.toml"]
    draft.files["scenario.toml"] = asking.scenario(drawn, rng)
    draft.files["population.csv"] = people.population(drawn, rng)
    draft.files["release.csv"] = notations.written(drawn, rng)
    draft.files["rules.toml"] = asking.policy(rng)
    if rng.random() < 0.6:
        draft.write("-o", "out", "run")
    if rng.random() < 0.3:
        draft.write("--json", "a.json", "json")
    if rng.random() < 0.1:
        draft.ask("--sweep", rng.choice(("known=1..2", "known=1", "known=1,2")))
    elif rng.random() < 0.1:
        draft.ask("--targets", rng.choice(("1", "1,2", "sex=F")))
    if rng.random() < 0.1:
        draft.ask("--set", asking.attack_setting(rng))
    return _finished(draft, rng)


def compare(rng: Random) -> Draft:
    """A comparison of two methods."""
    draft, _ = _with_table("compare", rng)
    draft.given = ["data.csv"]
    draft.ask("--schema", "schema.toml")
    draft.ask("--methods", ",".join(rng.sample(making.METHODS, rng.choice((1, 2)))))
    draft.ask("--k", rng.choice(("2", "3", "2,3")))
    draft.ask("--attacks", ",".join(rng.sample(asking.QUICK, 1)))
    draft.ask("--jobs", "1")
    draft.ask("--utility", rng.choice(("none", "queries", "granularity", "class_size")))
    if rng.random() < 0.3:
        draft.ask("--policy", rng.choice(asking.POLICIES))
    if rng.random() < 0.3:
        draft.ask("--sample", "0.5")
    if rng.random() < 0.2:
        draft.ask("--holdout", rng.choice(("0.3", "0.5")))
    if rng.random() < 0.15:
        draft.ask("--mechanism", f"theirs={rng.choice(_PROGRAMS)}")
        draft.ask("--timeout", "5")
    if rng.random() < 0.2:
        draft.ask("--risk", rng.choice(("strongest", "linking.max", "linking.success@class", "x.y")))
    draft.write("-o", "out", "comparison")
    return _finished(draft, rng)


def release(rng: Random) -> Draft:
    """A short search for a release."""
    draft, _ = _with_table("release", rng)
    draft.given = ["data.csv"]
    draft.ask("--schema", "schema.toml")
    own = rng.random() < 0.5
    draft.ask("--policy", "rules.toml" if own else rng.choice(asking.POLICIES))
    if own:
        draft.files["rules.toml"] = asking.policy(rng)
    draft.ask("--methods", rng.choice(("mondrian", "full-domain", "suppression", "mondrian,anatomy")))
    draft.ask("--budget", rng.choice(("1s", "2s", "0.01m")))
    draft.ask("--jobs", "1")
    if rng.random() < 0.3:
        draft.ask("--holdout", rng.choice(("0.1", "0.5")))
    if rng.random() < 0.3:
        draft.ask("--keep", rng.choice(("granularity", "queries", "class_size")))
    draft.ask("-o", "out.csv")
    draft.outputs["out.csv"] = "maybe"  # nothing may pass
    if rng.random() < 0.4:
        draft.ask("--provenance", "whose.csv")
        draft.outputs["whose.csv"] = "maybe"
    draft.write("--work", "out", "comparison")
    return _finished(draft, rng)


_PROGRAMS = ("cp {in} {out}", "head -n 3 {in}", "true", "false", "touch {out}", "no-such-program {in} {out}", "cp {in}")
"""Mechanisms of others: one that copies, and others that fail in their own ways."""


def epsilon(rng: Random) -> Draft:
    """A claim of differential privacy, put to a short test."""
    drawn = people.declared(rng) if rng.random() < 0.8 else people.draw(rng)
    draft = Draft("epsilon", ["data.csv"], canaries=list(drawn.canaries))
    draft.files = {"data.csv": drawn.grid, "schema.toml": drawn.schema()} | drawn.taxonomies
    draft.ask("--schema", "schema.toml")
    if rng.random() < 0.8:
        draft.ask("--method", rng.choice((*making.PRIVATE, "marginals", "marginals")))
        draft.ask("--set", f"epsilon={rng.choice(('0.1', '1', '100'))}")
    else:
        draft.ask("--mechanism", rng.choice(_PROGRAMS))
        draft.ask("--claim-epsilon", rng.choice(("0.5", "1", *odd.REAL)))
        draft.ask("--timeout", "5")
    if rng.random() < 0.5:
        draft.ask("--worlds", "one")
        draft.ask("--canaries", rng.choice(("2", "10", "40")))
    else:
        draft.ask("--runs", rng.choice(("8", "12", "20")))
        draft.ask("--canary", rng.choice(("outlier", "rare", "worst")))
    if rng.random() < 0.2:
        draft.ask("--neighbours", "replace")
    draft.ask("--jobs", "1")
    for option, name, form in (
        ("--html", "a.html", "html"),
        ("--json", "a.json", "json"),
        ("--markdown", "a.md", "text"),
    ):
        if rng.random() < 0.4:
            draft.write(option, name, form)
    return _finished(draft, rng)


def export(rng: Random) -> Draft:
    """The files of a built-in scenario."""
    draft = Draft("export", [rng.choice(("hospital", "hospital", "hospital", "nothing"))])
    draft.write("-o", "out", "folder")
    if rng.random() < 0.3:
        draft.ask("--seed", rng.choice(odd.WHOLE))
    return draft


def listing(rng: Random) -> Draft:
    """What there is."""
    sorts = ("anonymizers", "attacks", "adversaries", "formats", "links", "metrics", "policies", "scenarios")
    return Draft("list", [rng.choice((*sorts, *odd.NAMES))])


def explain(rng: Random) -> Draft:
    """What a name means."""
    names = (
        *making.METHODS,
        *asking.ATTACK_NAMES,
        *asking.POLICIES,
        "success",
        "hospital",
        "html",
        "class",
        "prosecutor",
    )
    return Draft("explain", [rng.choice((*names, *odd.NAMES))])


def serve(rng: Random) -> Draft:
    """A folder of records in the browser."""
    draft = Draft("serve", ["."], [("--port", "0"), ("--quiet", None)])
    for number in range(rng.choice((1, 2, 3))):
        draft.files[f"record{number}.json"] = making.record(rng)
    return draft


COMMANDS: tuple[tuple[Callable[[Random], Draft], float], ...] = (
    (audit, 36), (anonymize, 20), (mend, 8), (profile, 8), (render, 9), (redteam, 7), (decode, 5), (compare, 1.2),
    (epsilon, 1.5), (release, 1), (export, 0.8), (listing, 0.5), (explain, 1), (serve, 2.5),
)  # fmt: skip
"""Each command, and how often it is drawn."""


def draw(rng: Random) -> Draft:
    """A valid draft of some command."""
    made, weights = zip(*COMMANDS, strict=True)
    found: Draft = rng.choices(made, weights)[0](rng)
    return found
