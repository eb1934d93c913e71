"""ColossalAI's low-level ZeRO, stage 2: every gradient in even shares, and a cast of all of them before the step.

DeepSpeed gives every rank a stretch of the model; this divides every parameter. A bucket holds gradients as they were
made, and copies them twice while it reduces them. With ``offload_optimizer`` the 32-bit copy and its state wait, and
are stepped, on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, after, at, hookimpl, maths, resident, span, term
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.engines.gradients import gradients_at_the_end, made_gradient_bytes
from alignsim_plugins.engines.single_device import ALONE, AS_STORED, model_parallel_devices
from alignsim_plugins.engines.slot import ENGINE, WHOLE_WEIGHTS
from alignsim_plugins.engines.states import COMMUNICATION, PARTS, WHOLE, held_inputs, held_weights
from alignsim_plugins.engines.zero_gradients import made_head_gradient
from alignsim_plugins.engines.zero_host import optimizer_state_on_host
from alignsim_plugins.engines.zero_stages import FLAGS, optimizer_shards
from alignsim_plugins.engines.zero_states import held_master_weights, held_optimizer_state, stepped_bytes

SOURCE = "ColossalAI 0.4.4: colossalai/zero/low_level"
OPTIMIZER = f"{SOURCE}/low_level_optim.py, LowLevelZeroOptimizer"
BUCKET = f"{SOURCE}/bookkeeping/bucket_store.py, build_grad_in_bucket and get_flatten_grad"
COPIES = Const(2, source=f"{BUCKET}: a gradient, its clone, and the clones of its shares, or these and them flattened")


@term("device", per={"role"}, source=OPTIMIZER)
def gradient_shards(data: Any) -> Any:
    """Every rank keeps a share of every gradient."""
    return data


@trained(live=at("backward_last_layer"), source=OPTIMIZER)
def head_on_its_way(head_gradient: Any, gradient_shards: Any, bucket_copies: Any = COPIES) -> Any:
    """The head's gradient is reduced when the next one is made, and leaves a share."""
    return head_gradient * maths.maximum(1 + bucket_copies, 1 / gradient_shards)


@trained(live=at("backward_first_layer"), source=BUCKET)
def bucket_on_its_way(
    frozen: Any, reduce_bucket_size: Any, down_matrix: Any, made_gradient_bytes: Any, bucket_copies: Any = COPIES
) -> Any:
    """A full bucket, or one gradient that is larger than it."""
    return (1 - frozen) * (1 + bucket_copies) * made_gradient_bytes * maths.maximum(reduce_bucket_size, down_matrix)


@trained(live=at("backward_first_layer"), source=OPTIMIZER)
def growing_shares(
    trainable_parameters: Any,
    layer_parameters: Any,
    late_gradients: Any,
    frozen: Any,
    made_gradient_bytes: Any,
    gradient_shards: Any,
    accumulation_steps: Any,
) -> Any:
    """Shares of all gradients but the first layer's and the embedding's, on the first micro-batch."""
    return (
        (accumulation_steps <= 1)
        * made_gradient_bytes
        * (trainable_parameters - (1 - frozen) * (layer_parameters + late_gradients))
        / gradient_shards
    )


@trained(live=span("forward_layers", "backward_end"), source=OPTIMIZER)
def accumulated_shares(
    trainable_parameters: Any, made_gradient_bytes: Any, gradient_shards: Any, accumulation_steps: Any
) -> Any:
    """All shares, from the second micro-batch on."""
    return (accumulation_steps > 1) * trainable_parameters * made_gradient_bytes / gradient_shards


@trained(live=at("backward_end"), source=OPTIMIZER)
def shares_at_the_end(
    trainable_parameters: Any,
    made_gradient_bytes: Any,
    gradient_shards: Any,
    accumulation_steps: Any,
    frozen: Any,
    embedding_matrix: Any,
    bucket_copies: Any = COPIES,
) -> Any:
    """All shares, and the embedding's gradient while it is reduced."""
    return made_gradient_bytes * (
        (accumulation_steps <= 1) * trainable_parameters / gradient_shards
        + (1 - frozen) * bucket_copies * embedding_matrix
    )


@trained(live=span("backward_end", "optimizer_step", without=("backward_end", "optimizer_step")), source=OPTIMIZER)
def shares_before_the_step(trainable_parameters: Any, made_gradient_bytes: Any, gradient_shards: Any) -> Any:
    """All shares, while others work."""
    return trainable_parameters * made_gradient_bytes / gradient_shards


@trained(live=at("optimizer_step"), source=f"{OPTIMIZER}: step, _compute_grad_norm")
def gradients_at_the_step(
    trainable_parameters: Any,
    made_gradient_bytes: Any,
    stepped_bytes: Any,
    gradient_shards: Any,
    offload_optimizer: Any,
    norm_bytes: Any,
    largest_trained: Any,
    step_memory: Any,
) -> Any:
    """All shares as they were made and as they are stepped, and one as its norm is taken or the optimizer at work."""
    return (
        trainable_parameters * (made_gradient_bytes + (1 - offload_optimizer) * stepped_bytes)
        + maths.maximum(norm_bytes * largest_trained, (1 - offload_optimizer) * step_memory)
    ) / gradient_shards


@term("byte", per={"role"}, during={"train"}, resource="host", live=resident, source=OPTIMIZER)
def master_weights_on_host(
    trainable_parameters: Any, stepped_bytes: Any, optimizer_shards: Any, offload_optimizer: Any
) -> Any:
    """The copy that is stepped."""
    return offload_optimizer * trainable_parameters * stepped_bytes / optimizer_shards


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="host",
    live=resident & after("optimizer_step"),
    source=f"{OPTIMIZER}: step",
)
def gradients_on_host(
    trainable_parameters: Any, stepped_bytes: Any, optimizer_shards: Any, offload_optimizer: Any
) -> Any:
    """The cast of all shares of gradients, during a step."""
    return offload_optimizer * trainable_parameters * stepped_bytes / optimizer_shards


COLOSSALAI_ZERO_2 = Component(
    name="colossalai-zero-2",
    slot=ENGINE,
    terms=(
        model_parallel_devices,
        gradient_shards,
        optimizer_shards,
        held_weights,
        held_inputs,
        stepped_bytes,
        held_master_weights,
        held_optimizer_state,
        made_gradient_bytes,
        made_head_gradient,
        head_on_its_way,
        bucket_on_its_way,
        growing_shares,
        accumulated_shares,
        gradients_at_the_end,
        shares_at_the_end,
        shares_before_the_step,
        gradients_at_the_step,
        master_weights_on_host,
        optimizer_state_on_host,
        gradients_on_host,
    ),
    defaults={
        "weight_shards": WHOLE["weight_shards"],
        "gradients_exist": Const(1, source=f"{OPTIMIZER}: a gradient goes when its bucket is reduced"),
        "reduce_bucket_size": Const(
            12 * 2**20, "parameter", source="ColossalAI 0.4.4: LowLevelZeroPlugin(reduce_bucket_size_in_m=12)"
        ),
        "offload_optimizer": Const(0, source="ColossalAI 0.4.4: LowLevelZeroPlugin(cpu_offload=False)"),
        "norm_bytes": Const(8, "byte/parameter", source=f"{OPTIMIZER}: _compute_grad_norm, 64 bits"),
    },
    limits={
        **ALONE,
        "gathers_cast": AS_STORED,
        "trains_parts": PARTS,
        "quantised_bits": Limit(0, because="shares of quantised weights are not modelled; choose adapter 'lora'"),
        "offload_optimizer": FLAGS["offload_optimizer"],
    },
    kinds={WHOLE_WEIGHTS},
    source=SOURCE,
    left_out=(
        *COMMUNICATION,
        "padding of every parameter to a multiple of the ranks",
        "Gemini, and tensor parallelism",
    ),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer ColossalAI's stage 2."""
    yield COLOSSALAI_ZERO_2
