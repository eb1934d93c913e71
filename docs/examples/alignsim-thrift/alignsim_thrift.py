"""Thrift: an optimizer that keeps one number for every row and column of a matrix."""

from alignsim import Component, Const, hookimpl, term
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "Thrift 2.0, the optimizer's own documentation"


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def optimizer_state(
    trainable_parameters,
    moment_bytes,
    thrift_share=Const(0.002, low=0.001, high=0.01, source="square to oblong matrices"),
):
    """Sums of rows and columns, for all trained parameters."""
    return trainable_parameters * thrift_share * moment_bytes


THRIFT = Component(
    name="thrift",
    slot=OPTIMIZER,
    terms=(optimizer_state,),
    defaults={"step_memory": Const(0, "byte", source=SOURCE)},
    source=SOURCE,
)


@hookimpl
def alignsim_components():
    yield THRIFT
