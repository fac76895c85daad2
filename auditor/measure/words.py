"""How statistics of a release are put into words: one of these for each kind of figure."""

from functools import partial

from auditor.model.record.meaning import RELEASE, Kind, Measure

rate = partial(Measure, of=RELEASE, kind=Kind.RATE)
count = partial(Measure, of=RELEASE, kind=Kind.COUNT)
extreme = partial(Measure, of=RELEASE, kind=Kind.EXTREME)
fact = partial(Measure, of=RELEASE, kind=Kind.FACT)
