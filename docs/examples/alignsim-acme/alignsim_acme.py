"""The Acme X1, and the machine that it is sold in."""

from alignsim import Accelerator, Node, given, hookimpl

BRIEF = "Acme X1 product brief, 2026"

X1 = Accelerator(
    name="Acme-X1",
    vendor="Acme",
    aliases=["Acme X1 96GB"],  # what its driver reports
    label="96 GB",
    total_memory="96 GiB",
    usable_memory=given("94 GiB", "byte", low="93.5 GiB", source="Acme driver 1.4, three boards", obtained="measured"),
    memory_bandwidth="4 TB/s",
    flop_rates={"bf16": "800 Tflop/s"},
    link_bandwidth="450 GB/s",  # to the others in its node
    power="700 W",
    source=BRIEF,
)
POD = Node(
    name="Acme-Pod-8",
    accelerator=X1,
    count=8,
    network_bandwidth="50 GB/s",  # out of the node
    host_memory="2 TiB",
    source=BRIEF,
)


@hookimpl
def alignsim_accelerators():
    yield X1


@hookimpl
def alignsim_nodes():
    yield POD
