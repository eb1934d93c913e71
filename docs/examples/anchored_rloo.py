"""RLOO with a moving anchor: the policy is held near a running average of itself."""

from alignsim import Algorithm, Const, Given, hookimpl, resident, term

SOURCE = "the team's trainer, anchor.py"


@term("byte", per={"role"}, during={"train"}, resource="allocated", live=resident, source=SOURCE)
def average_weights(
    parameters,
    model_parallel_devices,
    average_bytes=Const(4, "byte/parameter", source=f"{SOURCE}: kept in 32 bits"),
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
    scalar_heads=["reward"],
    numbers={
        "rows_per_sample": Given(1, source="one row a sample"),
        "input_bytes": Given(24, "byte/token", source=f"{SOURCE}: ids and mask in 64 bits, advantages in 32, old logs"),
    },
    terms=[average_weights],
    needs={
        "policy.loss": "log-probabilities of tokens",
        "anchor.loss": "log-probabilities of tokens",
        "reward.loss": "values",
    },
    source="the team's trainer, after Ahmadian et al. 2024 (RLOO)",
)


@hookimpl
def alignsim_algorithms():
    yield ANCHORED_RLOO
