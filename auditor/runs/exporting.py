"""Exporting: the files of a built-in scenario, to start from."""

from __future__ import annotations

from pathlib import Path

from auditor.files.tables import csv_text
from auditor.model.errors import UsageError
from auditor.runs.worlds import build_world
from scenarios.scenario import builtin_scenarios, read_scenario


def export_scenario(name: str, folder: Path, seed: int | None = None) -> dict[Path, str]:
    """The contents of a built-in scenario's files, by path. The synthetic town is written as `data.csv` (the sampled people)
    and `population.csv` (everybody, with the sensitive columns that a control needs)."""
    known = builtin_scenarios()
    if name not in known:
        raise UsageError(f"There is no built-in scenario {name!r}. There are: {', '.join(known)}.")
    scenario = read_scenario(name)
    chosen = scenario.options.seed if seed is None else seed
    home = known[name].parent
    files = {
        folder / file.name: file.read_text(encoding="utf-8")
        for file in sorted(home.iterdir())
        if file.suffix in (".csv", ".toml")
    }
    if scenario.data.source == "town":
        files.pop(folder / "names.toml", None)
        released = files[folder / "scenario.toml"].split("[[release]]", 1)[1]
        data = '[data]\nfile = "data.csv"\nschema = "schema.toml"\npopulation = "population.csv"\n'
        files[folder / "scenario.toml"] = f"{data}seed = {chosen}\n\n[[release]]{released}"
        world = build_world(scenario.data, chosen)
        assert world.population is not None
        for table, file in ((world.people, "data.csv"), (world.population, "population.csv")):
            rows = zip(*(table.texts(column) for column in table.codes), strict=True)
            files[folder / file] = csv_text(list(table.codes), rows)
    return files
