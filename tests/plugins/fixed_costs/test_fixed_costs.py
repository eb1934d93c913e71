"""Contexts, communicators, workspaces and fragments: by hand, and beside tensors that they leave alone."""

from __future__ import annotations

import pytest

from alignsim import Layout, Place, default_registry
from alignsim_plugins.fixed_costs.communicators import communication_buffers, communicators
from alignsim_plugins.fixed_costs.context import driver_context
from alignsim_plugins.fixed_costs.fragmentation import fragmentation, fragmentation_share
from small_runs import small_run

MIB = 2**20
FIGURES = ("allocated", "reserved", "device")


def on(accelerator="H100-SXM5-80GB", **changes):
    return small_run().using(accelerator=accelerator, **changes)


def figures(run):
    return {name: figure.expected for name, figure in run.result.figures.items()}


def test_terms_by_hand():
    assert driver_context(context_memory=426 * MIB, fixed_costs=1) == 426 * MIB
    assert [communicators(*degrees) for degrees in ((1, 1, 1), (1, 1, 8), (8, 1, 1), (8, 1, 4), (8, 4, 2))] == [
        0,
        1,
        1,
        3,
        4,
    ]
    assert communication_buffers(most=3, communicator_memory=392 * MIB, fixed_costs=1) == 1176 * MIB
    shares = {"steady_fragmentation": 0.01, "varying_fragmentation": 0.2, "fixed_costs": 1}
    assert fragmentation_share(vary=1, expandable_segments=0, **shares) == 0.2
    assert fragmentation_share(vary=1, expandable_segments=1, **shares) == 0.01
    assert fragmentation_share(vary=0, expandable_segments=0, **shares) == 0.01
    held = fragmentation(kept=101 * MIB, fragmentation_share=0, allocation_granularity=2 * MIB, fixed_costs=1)
    assert held == 1 * MIB


def test_three_figures_of_one_process():
    values = on().result.values
    found = figures(on())
    assert tuple(found) == FIGURES
    taken, reserved, device = found.values()
    workspace, context = values["%trainer.library_workspaces"], values["%trainer.driver_context"]
    blocks = -(-taken // (2 * MIB)) * 2 * MIB
    assert workspace == 64 * MIB
    assert context == 426 * MIB
    assert reserved == pytest.approx(blocks + 0.01 * taken + workspace)
    assert device == pytest.approx(reserved + context)


def test_switched_off_all_figures_are_tensors():
    run = on(fixed_costs=0)
    assert len(set(figures(run).values())) == 1
    assert all(figure.low == figure.high for figure in run.result.figures.values())


def test_tensors_take_the_same_with_and_without():
    assert figures(on())["allocated"] == figures(small_run())["allocated"] == figures(on(fixed_costs=0))["allocated"]


def test_older_devices_have_smaller_workspaces():
    assert on("A100-SXM4-80GB").result.value("%trainer.library_workspaces") == 8320 * 1024


def test_a_range_is_told_with_its_numbers():
    run = small_run().using(accelerator="H100-SXM5-80GB", varying_shapes=1)
    (judged,) = run.result.verdict.judged
    assert {cause.path for cause in judged.causes} == {
        "varying_fragmentation",
        "@gpus.context_memory",
        "@gpus.allocation_granularity",
        "@gpus.library_workspace",
    }
    context = next(cause for cause in judged.causes if cause.path == "@gpus.context_memory")
    assert (context.less, context.more) == (426 * MIB - 300e6, 348 * MIB)
    assert [cause.more for cause in judged.causes] == sorted((c.more for c in judged.causes), reverse=True)


def test_ranks_that_talk_have_communicators():
    run = small_run(engine="fsdp2").using(layout=Layout(data=8), accelerator="H100-SXM5-80GB")
    assert run.result.value("%trainer.communication_buffers") == 392 * MIB
    assert small_run().result.value("%trainer.communication_buffers") == 0


def test_every_process_has_a_context_of_its_own():
    choices = dict(small_run().components)
    dpo = small_run().using(algorithm="DPO", components={**choices, "loss": "naive"})
    apart = dpo.using(places={"reference": Place("server")})
    assert dpo.result.value("device_resident") == 426 * MIB
    assert apart.result.value("device_resident") == 2 * 426 * MIB
    one, two = figures(dpo), figures(apart)
    assert two["allocated"] == one["allocated"]
    assert two["device"] > one["device"] + 426 * MIB, "what one process has freed is of no use to the other"


def test_only_what_no_allocator_knows_is_told_as_device_memory():
    """Tensors are ``resource="allocated"``: as ``device`` they would be left out of the first two figures."""
    registry = default_registry()
    offered = {t for algorithm in registry.algorithms.values() for t in registry.terms(algorithm)}
    offered |= {t for component in registry.components.values() for t in component.terms}
    fixed = {t for t in offered if t.resource in ("reserved", "device")}
    assert all(t.per == {"process"} or "rollouts" in t.provider for t in fixed), [t.provider for t in fixed]
