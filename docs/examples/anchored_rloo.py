"""RLOO with a moving anchor: the policy is held near a running average of itself."""

from alignsim import Algorithm, Const, hookimpl, resident, term


@term("byte", per={"role"}, during={"train"}, resource="device", live=resident, source="the team's trainer, anchor.py")
def average_weights(
    parameters,
    model_parallel_devices,
    average_bytes=Const(4, "byte/parameter", source="the team's trainer, anchor.py: kept in 32 bits"),
):
    """The running average of the trained weights."""
    return parameters * average_bytes / model_parallel_devices


ANCHORED_RLOO = Algorithm(
    name="anchored-rloo",
    phases={
        "rollout": {"policy": "generate"},
        "score": {"anchor": "infer", "reward": "infer"},
        "update": {"policy": "train"},
    },
    model_of={"anchor": "policy"},
    terms=[average_weights],
    source="the team's trainer, after Ahmadian et al. 2024 (RLOO)",
)


@hookimpl
def alignsim_algorithms():
    yield ANCHORED_RLOO
