"""Scenario files: what they may say, and each fault with its file and entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.model.errors import ScenarioError
from auditor.posterior.links import Link
from scenarios.adversaries import Stance
from scenarios.options import Options
from scenarios.scenario import Scenario, builtin_scenarios, read_scenario

RELEASE = '[[release]]\nmethod = "identity"\n'
DATA = '[data]\nsource = "town"\n'
GOOD = DATA + RELEASE


def read(folder: Path, text: str | bytes) -> Scenario:
    file = folder / "mine.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_scenario(str(file))


def test_the_built_in_scenarios_are_read() -> None:
    assert builtin_scenarios()
    for name in builtin_scenarios():
        scenario = read_scenario(name)
        assert scenario.name == name
        assert scenario.releases


def test_a_scenario_in_full(tmp_path: Path) -> None:
    for name in ("data.csv", "schema.toml", "people.csv", "out.csv", "out.provenance.csv"):
        (tmp_path / name).write_text("")
    (tmp_path / "rules.toml").write_text('[[check]]\nfigure = "release.k"\nat_least = 3\n')
    scenario = read(
        tmp_path,
        """
        [data]
        file = "data.csv"
        schema = "schema.toml"
        population = "people.csv"
        seed = 3
        [[release]]
        method = "mondrian"
        k = [2, 5]
        [[release]]
        name = "Ours"
        method = "mondrian"
        k = [3, 4]
        [[release]]
        file = "out.csv"
        provenance = "out.provenance.csv"
        [[release]]
        name = "Theirs"
        file = "out.csv"
        match = "rows"
        [[adversary]]
        name = "neighbour"
        kind = "prosecutor"
        knows = ["age"]
        [[adversary]]
        kind = "marketer"
        [attacks]
        run = ["linking", "proximity"]
        link = ["class"]
        proximity = { epsilon = 2 }
        [bounds]
        facts = [0, 5]
        [policy]
        use = "rules.toml"
        """,
    )
    options = scenario.options
    assert (scenario.name, options.seed, scenario.folder) == ("mine", 3, tmp_path)
    assert options.policy is not None
    assert (options.policy.name, options.policy.checks[0].limit) == ("rules", 3)
    assert (scenario.data.file, scenario.data.population) == (tmp_path / "data.csv", tmp_path / "people.csv")
    assert [plan.name for plan in scenario.releases][2:] == ["Ours k=3", "Ours k=4", "out.csv", "Theirs"]
    assert [plan.match for plan in scenario.releases][-2:] == [None, "rows"]
    assert scenario.releases[-2].provenance == tmp_path / "out.provenance.csv"
    assert options.adversaries is not None
    assert [(a.stance, a.name, a.knows) for a in options.adversaries] == [
        (Stance.PROSECUTOR, "neighbour", ("age",)),
        (Stance.MARKETER, "marketer", None),
    ]
    assert (options.attacks, options.links) == (("linking", "proximity"), (Link.CLASS,))
    assert options.settings == {"proximity": {"epsilon": 2}}
    assert options.facts == (0, 5)


def test_what_is_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD).options == Options()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (DATA, ": there must be at least one [[release]]."),
        ("release = []\n" + DATA, ": there must be at least one [[release]]."),
        ("release = 3\n" + DATA, ": write each release as [[release]]."),
        (RELEASE, ", [data]: give either source = (a built-in name) or file = (with schema =)."),
        ("data = 3\n" + RELEASE, ", [data] must be a table of settings. Got 3."),
        (GOOD.replace("town", "city"), ", [data]: source must be one of town. Got 'city'."),
        (DATA + 'schema = "s.toml"\n' + RELEASE, ", [data]: a built-in source has its own schema and population."),
        ('[data]\nfile = "d.csv"\n' + RELEASE, ", [data]: a file needs its schema."),
        ('[data]\nfile = "d.csv"\nschema = 3\n' + RELEASE, ", [data]: schema must be the name of a file. Got 3."),
        ('[data]\nfile = "d.csv"\nschema = "s"\n' + RELEASE, "/d.csv: there is no such file."),
        (DATA + "sample = 2\n" + RELEASE, ", [data]: sample must be above 0 and at most 1. Got 2."),
        (DATA + "sample = true\n" + RELEASE, ", [data]: sample must be above 0 and at most 1. Got True."),
        (DATA + "seed = -1\n" + RELEASE, ", [data]: seed must be a whole number of at least 0. Got -1."),
        (DATA + "sampel = 1\n" + RELEASE, ", [data]: unknown key 'sampel'. Did you mean 'sample'?"),
        (
            DATA + "rows = 1\n" + RELEASE,
            "unknown key 'rows'. Known keys: source, file, schema, population, sample, seed.",
        ),
        (
            GOOD + '[[release]]\nk = 3\nname = "B"\n',
            ", [[release]] 2 (B): method (an anonymizer), program (a command) or file must be given.",
        ),
        (GOOD + '[[release]]\nmethod = "mondrain"\n', ", [[release]] 2: There is no anonymizer 'mondrain'."),
        (GOOD + '[[release]]\nmethod = "mondrian"\nkk = 3\n', ", [[release]] 2: mondrian has no setting 'kk'."),
        (
            GOOD + '[[release]]\nmethod = "mondrian"\nk = []\n',
            ", [[release]] 2: k must have a value, or a list of them",
        ),
        (GOOD + '[[release]]\nfile = "r.csv"\n', ", [[release]] 2, file: "),
        (GOOD + '[[release]]\nfile = "r.csv"\n', ", [[release]] 2: give provenance (a file), match"),
        (GOOD + '[[release]]\nfile = "r.csv"\nmatch = "rows"\n', "a release from a file needs [data] file and schema"),
        (GOOD + '[[release]]\nfile = "r.csv"\nmatch = 3\n', 'match must be "rows" or the name of a column. Got 3.'),
        (
            GOOD + '[[release]]\nfile = "r.csv"\nmatch = "id"\nprovenance = "p"\n',
            "give provenance (a file), match",
        ),
        (
            GOOD + '[[adversary]]\nname = "boss"\n',
            ", [[adversary]] 1 (boss): an adversary with a name of its own needs kind = one of prosecutor, journalist,",
        ),
        (
            GOOD + '[[adversary]]\nname = "boss"\nkind = "judge"\n',
            "(boss): kind must be one of prosecutor, journalist,",
        ),
        (GOOD + '[[adversary]]\nknows = ["a"]\n', ", [[adversary]] 1: name must be one of prosecutor, "),
        (
            GOOD + '[[adversary]]\nkind = "marketer"\nknows = "a"\n',
            "knows must be a list of column names, or how many to draw at random. Got 'a'.",
        ),
        (
            GOOD + '[[adversary]]\nkind = "marketer"\nnoise = 0.1\n',
            ", [[adversary]] 1: noise must be how far each column may be off, such as { age = 1 }. Got 0.1.",
        ),
        (GOOD + '[attacks]\nrun = ["linkin"]\n', ", [attacks]: run must be a list of: "),
        (GOOD + '[attacks]\nrun = ["linkin"]\n', "Got ['linkin']. Did you mean 'linking'?"),
        (GOOD + "[attacks]\nlink = []\n", ", [attacks]: link must be a list of: "),
        (GOOD + "[attacks]\nlinking = { treshold = 1 }\n", ", [attacks]: linking has no setting 'treshold'."),
        (GOOD + "[attacks]\nlinking = 1\n", ", [attacks]: linking must be a table of settings. Got 1."),
        (GOOD + "[bounds]\nfacts = 3\n", ", [bounds]: facts must be a list of whole numbers from 0 to 20. Got 3."),
        (
            GOOD + "[bounds]\nfacts = [21]\n",
            ", [bounds]: facts must be a list of whole numbers from 0 to 20. Got [21].",
        ),
        (GOOD + "[policy]\nuse = 3\n", ", [policy]: use must be the name of a policy or a file. Got 3."),
        (GOOD + '[policy]\nuse = "rules.toml"\n', "/rules.toml: there is no such file."),
        (GOOD + '[policy]\nuse = "emaa"\n', ", [policy]: There is no policy 'emaa'. Did you mean 'ema'?"),
        (GOOD + '[policy]\nuse = "a\\u0000.toml"\n', "there is no such file."),
        (GOOD + f'[policy]\nuse = "{"x" * 5000}"\n', ", [policy]: There is no policy"),
        (GOOD + f'[[release]]\nfile = "{"x" * 5000}"\nmatch = "rows"\n', "characters): there is no such file."),
        (GOOD + '[[release]]\nfile = "a\\u0000b"\nmatch = "rows"\n', ": there is no such file."),
        (
            GOOD + f'[[adversary]]\nkind = "marketer"\nearlier = ["{"x" * 5000}"]\n',
            "is no release of the run, nor a file beside the scenario.",
        ),
        (
            GOOD + f'[[adversary]]\nkind = "marketer"\nacquaintances = -1{"0" * 30}\n',
            "acquaintances must be a number of people, or a share of them below 1. Got -1000",
        ),
        (GOOD + f"nested = {'[' * 3000}{']' * 3000}\n", "must be TOML. Too many things lie inside each other."),
        (GOOD + f"long = {'9' * 5000}\n", "must be TOML. It holds a number beyond all bounds."),
        ("[data\n", ": the scenario must be TOML."),
        (GOOD.encode("utf-16"), ": the scenario must be UTF-8 text ("),
    ],
)
def test_faults(tmp_path: Path, text: str | bytes, fault: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, text)
    assert all(str(tmp_path / "mine.toml") in one for one in caught.value.faults)
    assert fault in str(caught.value)


def test_all_faults_at_once(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, DATA + 'seed = "x"\n[[release]]\nmethod = "none"\n[[adversary]]\nname = "boss"\n')
    assert len(caught.value.faults) == 3
    (tmp_path / "rules.toml").write_text('[[check]]\nfigure = "release.size"\n')
    with pytest.raises(ScenarioError) as of_policy:
        read(tmp_path, GOOD + '[policy]\nuse = "rules.toml"\n')
    assert [fault.count("mine.toml, [policy]: ") for fault in of_policy.value.faults] == [1, 1]
    assert str(caught.value).startswith("3 faults:\n")


def test_scenarios_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        ScenarioError, match=r"There is no scenario 'nowhere'\. The built-in ones are .*; or give a TOML file\."
    ):
        read_scenario("nowhere")
    for name in ("none.toml", "folder/none"):
        with pytest.raises(ScenarioError, match=rf"{name}: there is no such file\."):
            read_scenario(str(tmp_path / name))
    with pytest.raises(ScenarioError, match="a folder, not a TOML file"):
        read_scenario(str(tmp_path))
