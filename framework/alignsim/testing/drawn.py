"""Hypothesis strategies: random runs over all that a registry offers. They need hypothesis."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from alignsim.errors import InvalidInput
from alignsim.frozen import FrozenDict
from alignsim.testing.setups import MODELS, Setup, Workbench, batch_fields

_MOST = {"micro_batch": 9, "sequence_tokens": 3000, "rollout_tokens": 3000, "accumulation_steps": 3}


@st.composite
def batches(draw: st.DrawFn) -> dict[str, int]:
    """Draw the sizes of a batch."""
    sizes = {name: draw(st.integers(1, _MOST.get(name, 8))) for name in batch_fields()}
    sizes["prompt_tokens"] = draw(st.integers(0, min(sizes["sequence_tokens"], sizes["rollout_tokens"])))
    return sizes


@st.composite
def setups(
    draw: st.DrawFn,
    /,
    workbench: Workbench,
    algorithm: str | None = None,
    fillings: Mapping[str, str] = FrozenDict(),
) -> Setup:
    """Draw an algorithm, models, a filling for every slot, now and then another for one role, and a batch.

    Each filling goes with the algorithm, one of them with others that it needs; that all go together is not certain. A
    run that is refused with an ``AlignSimError`` is an answer too. Whatever is in ``fillings`` stays as it is.
    """
    registry = workbench.registry
    name = algorithm or draw(st.sampled_from(list(registry.algorithms)))
    table = registry.algorithms[name]
    slots = workbench.slots(table)
    chosen = dict(workbench.setup(name).components)
    for slot in slots:
        chosen |= _alone(workbench, name, slot, draw(st.sampled_from(registry.fillings(slot))))
    places = st.sampled_from([place for slot in slots for place in workbench.places(table, slot)])
    place, special = draw(places), draw(places)
    fillings_of = {each: st.sampled_from(registry.fillings(each.rpartition(".")[2])) for each in (place, special)}
    chosen |= _alone(workbench, name, special, draw(fillings_of[special]))
    chosen |= {**_tied(workbench, name, place, draw(fillings_of[place])), **fillings}
    model, other = draw(st.sampled_from(list(MODELS))), draw(st.sampled_from(list(MODELS)))
    return Setup(name, chosen, model, other, draw(batches()))


def _tied(workbench: Workbench, algorithm: str, place: str, filling: str) -> dict[str, str]:
    """A filling with what it needs otherwise than usual; nothing if it goes with no set-up."""
    try:
        return workbench.tied(algorithm, place, filling)
    except InvalidInput:
        return {}


def _alone(workbench: Workbench, algorithm: str, place: str, filling: str) -> dict[str, str]:
    """A filling that needs nothing otherwise than usual; else nothing."""
    found = _tied(workbench, algorithm, place, filling)
    return found if len(found) == 1 else {}
