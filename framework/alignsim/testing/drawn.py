"""Hypothesis strategies: random runs over all that a registry offers. They need hypothesis."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

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
    fitting, table = workbench.fitting(name), registry.algorithms[name]
    place = draw(st.sampled_from(list(fitting)))
    tied = workbench.tied(name, place, draw(st.sampled_from(fitting[place])))
    alone = {p: [n for n in names if len(workbench.tied(name, p, n)) == 1] for p, names in fitting.items()}
    chosen = dict(workbench.setup(name).components)
    chosen |= {p: draw(st.sampled_from(names)) for p, names in alone.items() if "." not in p and names}
    places = [place for slot in workbench.slots(table) for place in workbench.places(table, slot)]
    special = draw(
        st.sampled_from([place for place in places if place in fitting or place.rpartition(".")[2] in fitting])
    )
    alike = alone.get(special.rpartition(".")[2], [])
    others = (*alone.get(special, alike), *alike)
    if others:
        chosen[special] = draw(st.sampled_from(others))
    chosen |= {**tied, **fillings}
    model, other = draw(st.sampled_from(list(MODELS))), draw(st.sampled_from(list(MODELS)))
    return Setup(name, chosen, model, other, draw(batches()))
