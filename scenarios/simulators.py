"""Background knowledge, simulated: what an adversary of a certain kind would know of the people of a data set.

Everything is drawn from the truth, once per adversary and seed, whatever release is attacked: errors in known values (off
by up to a distance, evenly over the values that occur; out of date, which gives the value of a random person of the
population; not known), values ruled out, acquaintances, a sample of outsiders, a list of the population that misses
people. Each column has a random stream of its own, so knowing one more does not change the others. People are drawn in the
order of their contents and columns are told by theirs, so neither the order of rows and columns nor names change what is
known of somebody.

The adversary knows how often such things are wrong: `Knowledge.errors` are the errors that were drawn with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from anonymizers import ANONYMIZERS, Anonymizer
from anonymizers.anonymizing import drawn_from
from anonymizers.blocks.running import BLOCK_ROWS, BLOCKS, anonymize_in_blocks
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.knowledge import Acquaintances, Draw, Knowledge, Mechanism, Register, drawn_people
from auditor.model.packing import mark_of
from auditor.model.release import Release
from auditor.model.schema import Type
from auditor.model.seeding import stage
from auditor.model.table import Table
from auditor.posterior.noise import reach
from scenarios.adversaries import Adversary, MechanismKnown, Stance

_CHUNK = 4_000


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What there is to know."""

    people: Table  # the table that was released
    released: Bools  # who of it is in the release
    release: Release  # the release that is attacked
    priors: Mapping[str, Floats]  # by sensitive column, the share of each value
    population: Table | None = None
    register: Register | None = None  # the quasi-identifiers of the population
    outsiders: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # its rows that are not in the release
    others: Mapping[str, Release] = field(default_factory=dict)  # other releases, by name
    maker: Anonymizer | None = None  # what made the release, where it is in no registry
    owner: Ints | None = None  # whose each row of the population is, where several may be one person's

    @property
    def at_large(self) -> Table:
        """The people from whom a random value is drawn: the population where it is known."""
        return self.people if self.population is None else self.population


class Simulator:
    """Draws what one adversary knows."""

    def __init__(self, adversary: Adversary, setting: Setting, seed: int) -> None:
        self.adversary, self.setting, self.seed = adversary, setting, seed
        self.register = self._register()
        self.sample = self._sample()

    def _rng(self, *what: str) -> np.random.Generator:
        return stage(self.seed, "knowledge", self.adversary.name, *what)

    def _some(self, table: Table, rows: Ints, count: int, what: str) -> Ints:
        """So many of the rows of a table, drawn without replacement."""
        order = table.in_order()
        return np.sort(self._rng(what).choice(order[np.isin(order, rows)], count, replace=False))

    @cached_property
    def _marks(self) -> dict[str, str]:
        """What tells the random stream of each column from those of others."""
        found, seen = {}, Counter[int]()
        for column, codes in self.setting.people.codes.items():
            mark = mark_of(codes)
            found[column] = f"{mark}/{seen[mark]}"
            seen[mark] += 1
        return found

    # ----- about people ----------------------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are known of people: quasi-identifiers, and sensitive ones where these are known."""
        schema, there = self.setting.people.schema, self.setting.people.codes
        own = self.setting.release.sensitive if self.adversary.own_value else ()
        return tuple(c for c in (*self.adversary.columns(schema.quasi), *own) if c in there)

    def about(self, table: Table, rows: Ints, who: str, acquaintances: Ints) -> Knowledge:
        """What is known of some people of a table; `who` keeps the draws of one table apart from those of another.
        Without a list of the population, the share of it that is in the release is not known, and is taken as one
        half."""
        adversary, register = self.adversary, self.register
        columns = tuple(c for c in self.columns if c in table.codes)
        membership = None
        if not adversary.sure_of_membership:
            people = 0.0 if register is None else register.people / register.coverage
            membership = 0.5 if register is None else min(self.setting.release.rows / people, 1.0)
        return Knowledge(
            columns,
            self.seen(table.matrix(columns), columns, who, table.in_order())[rows],
            None,
            register,
            self.setting.priors,
            membership,
            adversary.stance is Stance.JOURNALIST,
            adversary.errors(adversary.columns(table.schema.quasi)),
            {c: excluded[rows] for c, excluded in self._not_values(table, who).items()},
            self._acquaintances(acquaintances),
            self._auxiliary(),
            self.mechanism(),
            tuple(self.setting.others[name] for name in adversary.earlier if name in self.setting.others),
            self._draw(rows if table is self.setting.people else np.full(len(rows), -1)),
        )

    def seen(self, codes: Codes, columns: tuple[str, ...], who: str, order: Ints | None = None) -> Codes:
        """The values of people (rows × columns) as this adversary knows them; `order` is that in which they are drawn."""
        order = np.arange(len(codes)) if order is None else order
        adversary, at_large = self.adversary, self.setting.at_large
        errors, out = adversary.errors(adversary.columns(at_large.schema.quasi)), codes.copy()
        for place, column in enumerate(columns):
            if column not in at_large.schema.quasi:
                continue
            error, unknown, rows = errors.get(column), adversary.unknown_share(column), len(codes)
            if error is None and not unknown:
                continue
            rng, drawn = self._rng(who, self._marks.get(column, column)), np.empty((4, rows))
            drawn[:, order] = rng.random((4, rows))
            off, outdated, lost, other = drawn
            if error is not None:
                first, last = reach(self.setting.people.domains[column], error.spread)
                true = out[:, place]
                near = first[true] + (off * (last[true] - first[true] + 1)).astype(np.int64)
                source = at_large if column in at_large.codes else self.setting.people
                anybody = np.sort(source.codes[column])[(other * source.rows).astype(np.int64)]
                out[:, place] = np.where(outdated < error.stale, anybody, near)
            out[lost < unknown, place] = -1
        return out

    def _not_values(self, table: Table, who: str) -> dict[str, Bools]:
        """For each person the values ruled out: as many as asked for, but at least two are left."""
        found = {}
        for column in self.setting.release.sensitive if self.adversary.not_values else ():
            if column not in table.codes or table.schema.columns[column].type is Type.NUMERIC:
                continue
            domain, true = table.domains[column], table.codes[column]
            count = min(self.adversary.not_values, domain.known - 2)
            if count < 1 or (true < 0).any():
                continue
            rng = self._rng(who, "not", self._marks.get(column, column))
            excluded = np.zeros((table.rows, domain.size), dtype=np.bool_)
            for begin in range(0, table.rows, _CHUNK):
                people = table.in_order()[begin : begin + _CHUNK]
                some = true[people]
                order = rng.random((len(some), domain.known))
                inside = np.flatnonzero(some < domain.known)
                order[inside, some[inside]] = 2.0  # the true value comes last
                chosen = np.argpartition(order, count - 1, axis=1)[:, :count]
                excluded[people[:, None], chosen] = True
            found[column] = excluded
        return found

    # ----- about others ----------------------------------------------------------------------------------------------

    def acquainted(self, attacked: Ints | None) -> Ints:
        """The rows of the people in the release whom the adversary knows; nobody who was named as a target is among
        them."""
        wanted = self.adversary.acquaintances
        if not wanted:
            return np.empty(0, dtype=np.int64)
        free = np.flatnonzero(self.setting.released)
        count = round(wanted * len(free)) if wanted < 1 else int(wanted)
        if attacked is not None:
            free = np.setdiff1d(free, attacked)
        if count > len(free) - (attacked is None):
            raise UsageError(
                f"adversary {self.adversary.name!r}: acquaintances must leave somebody to attack. Got {wanted:g}; "
                f"at most {len(free) - (attacked is None)} people of the release can be known."
            )
        if attacked is None:
            return self._some(self.setting.people, free, count, "acquaintances")
        # whoever is asked for is passed over: the others are the same people whoever is asked for
        order = self.setting.people.in_order()
        order = self._rng("acquaintances").permutation(order[self.setting.released[order]])
        return np.sort(order[np.isin(order, free)][:count])

    def _acquaintances(self, rows: Ints) -> Acquaintances | None:
        if not len(rows):
            return None
        people = self.setting.people
        columns = tuple(c for c in self.adversary.columns(people.schema.quasi) if c in people.codes)
        values = {c: people.codes[c][rows] for c in self.setting.release.sensitive if c in people.codes}
        return Acquaintances(columns, people.matrix(columns)[rows], values)

    def _register(self) -> Register | None:
        population = self.setting.population
        if population is None or self.adversary.coverage == 1:
            return self.setting.register
        count = max(round(self.adversary.coverage * population.rows), 1)
        rows = self._some(population, np.arange(population.rows), count, "register")
        return register_of(population.take(rows), self.adversary.coverage)

    def _sample(self) -> Ints:
        """The outsiders whom the adversary learns from, with all their rows; they are not used as controls."""
        population, outsiders, owner = self.setting.population, self.setting.outsiders, self.setting.owner
        whose = outsiders if owner is None else owner[outsiders]
        count = round(self.adversary.sample * len(np.unique(whose)))
        if not count or population is None:
            return np.empty(0, dtype=np.int64)
        return outsiders[drawn_people(population.contents()[outsiders], whose, count, self._rng("sample"))]

    def _auxiliary(self) -> Table | None:
        """The sample of outsiders, in the order of their contents, since an attack may draw from it."""
        population = self.setting.population
        if population is None or not len(self.sample):
            return None
        order = population.in_order()
        return population.take(order[np.isin(order, self.sample)], "sample")

    # ----- about the release -----------------------------------------------------------------------------------------

    def mechanism(self) -> Mechanism | None:
        """How the release was made, as far as it is known; it can be run where it is a registered method and its settings
        are known."""
        release, known = self.setting.release, self.adversary.mechanism
        if known is MechanismKnown.NONE or release.method is None:
            return None
        if known is MechanismKnown.NAME:
            return Mechanism(release.method)
        params, method = dict(release.params), self._method()
        if method is None:
            return Mechanism(release.method, params)

        def run(table: Table, rng: np.random.Generator) -> Release:
            if params.get(BLOCKS, 1) == 1:
                made, _ = method.anonymize(table, rng)
            else:
                made, _ = anonymize_in_blocks(table, method, int(rng.integers(2**32)), params[BLOCK_ROWS], jobs=1)
            return made

        return Mechanism(release.method, params, run)

    def _method(self) -> Anonymizer | None:
        """The method with its settings, where it is a registered one, or was handed over: what a release says of itself is
        never run but by a name in the registry."""
        release = self.setting.release
        if self.setting.maker is not None:
            return self.setting.maker
        if release.method not in ANONYMIZERS.all():
            return None
        own = {name: value for name, value in release.params.items() if name not in (BLOCKS, BLOCK_ROWS)}
        try:
            return ANONYMIZERS.get(release.method).configure(own)
        except UsageError:  # another tool's method of the same name
            return None

    def _draw(self, place: Ints) -> Draw | None:
        """From what the release was drawn, as the adversary believes; None where they do not know, or where the method does
        not draw by the rows of the file: it works in blocks, or with one row for each person."""
        seed, method, people = self.adversary.seed, self._method(), self.setting.people
        persons = None if people.schema.person is None else people.codes.get(people.schema.person)
        several = persons is not None and len(np.unique(persons)) < people.rows
        if seed is None or method is None or several or self.setting.release.params.get(BLOCKS, 1) != 1:
            return None
        return Draw(partial(drawn_from, seed, method), people.rows, place)


def register_of(population: Table, coverage: float = 1.0) -> Register:
    """The quasi-identifiers of a population table, as a list that an adversary has."""
    quasi = [c for c in population.schema.quasi if c in population.codes]
    return Register({c: population.codes[c] for c in quasi}, population.rows, coverage)
