"""What a plugin can offer: one hook a kind of object.

A plugin is a module (or an object) with functions of these names, each marked with ``@hookimpl``. It needs only the
hooks that it has something for. Every hook returns an iterable of frozen objects, has no side effects, and gives the
same answer whenever it is asked. A parameter that a plugin does not use may be left out.

A plugin can state the version of this contract that it was written for: ``ALIGNSIM_API = 1``.
"""
# mypy: disable-error-code="empty-body"

# pyright: reportReturnType=false
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import click

    from alignsim.algorithm import Algorithm
    from alignsim.architecture import Architecture
    from alignsim.component import Component
    from alignsim.detector import Detector
    from alignsim.family import Family
    from alignsim.hardware import Accelerator, Cluster, Node
    from alignsim.preset import Preset
    from alignsim.question import Question
    from alignsim.reader import Reader
    from alignsim.registry import Registry
    from alignsim.resource import Resource
    from alignsim.solver import Solver
    from alignsim.term import Term
    from alignsim.validation import Validation

API = 1
"""The version of this contract. It grows only when a plugin written for the one before would stop working."""

hookspec = pluggy.HookspecMarker("alignsim")
hookimpl = pluggy.HookimplMarker("alignsim")


@hookspec
def alignsim_accelerators() -> Iterable[Accelerator]:
    """Offer accelerators: what one device is, with the data sheet that says so.

    ```python
    from alignsim import Accelerator, hookimpl


    @hookimpl
    def alignsim_accelerators():
        yield Accelerator(
            name="Acme-X1",
            vendor="Acme",
            label="96 GB",
            usable_memory="94 GiB",
            memory_bandwidth="4 TB/s",
            source="Acme X1 product brief, 2026",
        )
    ```
    """


@hookspec
def alignsim_nodes() -> Iterable[Node | Cluster]:
    """Offer machines by name: nodes of several accelerators, and clusters of several nodes.

    ```python
    from alignsim import Accelerator, Node, hookimpl

    X1 = Accelerator(name="Acme-X1", vendor="Acme", usable_memory="94 GiB", source="Acme X1 product brief, 2026")


    @hookimpl
    def alignsim_nodes():
        yield Node(name="Acme-Pod-8", accelerator=X1, count=8, host_memory="2 TiB", source="Acme pod guide, 2026")
    ```
    """


@hookspec
def alignsim_detectors() -> Iterable[Detector]:
    """Offer detectors: what devices this machine has. One that cannot ask raises ``InvalidInput`` with what is missing.

    ``alignsim hardware detect`` asks all of them, and looks the names up among accelerators and their aliases.

    ```python
    from alignsim import Detected, Detector, hookimpl


    def devices():
        return [Detected(name="Acme X1 96GB", memory=103079215104, driver="1.2")]


    @hookimpl
    def alignsim_detectors():
        yield Detector(name="acme", detect=devices, about="Acme's devices, from its driver")
    ```
    """


@hookspec
def alignsim_architectures() -> Iterable[Architecture]:
    """Offer model architectures: the shapes that decide how large a model and its activations are.

    ```python
    from alignsim import Architecture, hookimpl


    @hookimpl
    def alignsim_architectures():
        yield Architecture(
            name="Acme-1B",
            layers=16,
            hidden=2048,
            heads=32,
            kv_heads=8,
            ffn=8192,
            vocab=128256,
            source="config.json of acme/acme-1b",
        )
    ```
    """


@hookspec
def alignsim_families() -> Iterable[Family]:
    """Offer families of models: how the ``config.json`` of a ``model_type`` is read.

    From then on, a path to such a file is taken wherever the name of a model is.

    ```python
    from alignsim import Family, hookimpl


    @hookimpl
    def alignsim_families():
        yield Family(
            name="acme",
            keys={
                "layers": "num_hidden_layers",
                "hidden": "hidden_size",
                "heads": "num_attention_heads",
                "ffn": ("intermediate_size", "ffn_dim"),
                "vocab": "vocab_size",
                "tied": "tie_word_embeddings",
            },
            defaults={"tied": True},
            always={"qkv_bias": True},
            source="acme-models 1.2, modeling_acme.py",
        )
    ```
    """


@hookspec
def alignsim_readers() -> Iterable[Reader]:
    """Offer readers: what a path or an address stands for, wherever the name of a model or a component is expected.

    ```python
    from pathlib import Path

    from alignsim import Architecture, Found, InvalidInput, Problem, Reader, hookimpl


    def read(path, registry):
        try:
            layers, hidden, heads, ffn, vocab = map(int, Path(path).read_text().split())
        except (OSError, ValueError) as error:
            raise InvalidInput(Problem(path, f"is no shape of Acme's: {error}")) from None
        return Found(
            Architecture(
                name=Path(path).stem, layers=layers, hidden=hidden, heads=heads, ffn=ffn, vocab=vocab, source=path
            )
        )


    @hookimpl
    def alignsim_readers():
        yield Reader(
            name="acme-shape",
            catalogue="architectures",
            claims=lambda text: text.endswith(".acme"),
            read=read,
            about="five numbers in a text file",
        )
    ```
    """


@hookspec
def alignsim_algorithms() -> Iterable[Algorithm]:
    """Offer alignment algorithms: tables of which role does what in which phase.

    ```python
    from alignsim import Algorithm, hookimpl


    @hookimpl
    def alignsim_algorithms():
        yield Algorithm(
            name="best-of-n",
            phases={
                "rollout": {"policy": "generate"},
                "score": {"reward": "infer"},
                "update": {"policy": "train"},
            },
            source="Nakano et al. 2021, sec. 3.2",
        )
    ```
    """


@hookspec
def alignsim_components() -> Iterable[Component]:
    """Offer components: fillings of a slot such as ``optimizer`` or ``engine``, each a few terms and defaults.

    They are looked up as ``slot:name``.

    ```python
    from alignsim import Component, Const, Slot, hookimpl, term

    WATCHER = Slot(name="watcher", promises={"watcher_memory": "byte"}, about="what looks at the training of a role")


    @term("byte", per={"role"}, resource="allocated", source="Acme watcher 1.0, README")
    def watcher_memory(layers, watcher_bytes=Const("4 KiB", unit="byte", source="Acme watcher 1.0, README")):
        '''Statistics of every layer.'''
        return layers * watcher_bytes


    @hookimpl
    def alignsim_components():
        yield Component(name="acme", slot=WATCHER, terms=[watcher_memory])
    ```
    """


@hookspec
def alignsim_presets() -> Iterable[Preset]:
    """Offer presets: what a framework does by default in one version, each choice with where it was read.

    ```python
    from alignsim import Choice, Preset, hookimpl


    @hookimpl
    def alignsim_presets():
        yield Preset(
            name="acme-trainer-2.1",
            framework="Acme Trainer",
            version="2.1",
            algorithms=["SFT", "DPO"],
            choices=[
                Choice(
                    components={"optimizer": "adamw-fused", "precision": "bf16", "adapter": "full"},
                    batch={"micro_batch": 4},
                    source="acme/config.py, TrainerConfig",
                ),
                Choice(components={"loss": "cross-entropy"}, algorithms="SFT", source="acme/sft.py, loss"),
                Choice(
                    components={"reference.engine": "same-weights"},
                    algorithms="DPO",
                    where={"adapter": ["lora", "qlora"]},
                    source="acme/dpo.py, make_reference",
                ),
            ],
            source="acme-trainer 2.1",
        )
    ```
    """


@hookspec
def alignsim_resources() -> Iterable[Resource]:
    """Offer resources: what terms take up, and how what is taken adds up over a run.

    A resource may rest on another (``includes``), which processes may keep (``kept``, and an ``overhead`` on that), and
    may have a ``capacity`` that verdicts hold it against.

    ```python
    from alignsim import Resource, hookimpl


    @hookimpl
    def alignsim_resources():
        yield Resource(name="scratch", unit="byte", about="local disk of a node")
    ```
    """


@hookspec
def alignsim_terms(algorithm: Algorithm) -> Iterable[Term]:
    """Offer terms that belong to runs of an algorithm, whatever its components are.

    ```python
    from alignsim import Const, hookimpl, resident, term


    @term("byte", per={"role"}, resource="allocated", live=resident, source="Acme monitor, README")
    def monitor_buffer(layers, bytes_per_layer=Const("4 KiB", unit="byte", source="Acme monitor, README")):
        '''Statistics that the monitor keeps for every layer.'''
        return layers * bytes_per_layer


    @hookimpl
    def alignsim_terms(algorithm):
        if "policy" in algorithm.roles:
            yield monitor_buffer
    ```
    """


@hookspec
def alignsim_scenarios(registry: Registry) -> Iterable[Question]:
    """Offer scenarios: questions by name, made of what the registry holds. Most are runs; any question will do.

    ```python
    from alignsim import Algorithm, Scenario, hookimpl


    @hookimpl
    def alignsim_scenarios(registry):
        yield Scenario(
            name="Acme_1B_Dpo",
            algorithm=Algorithm(name="acme-sft", phases={"update": {"policy": "train"}}),
            models={"policy": registry.architectures["Acme-1B"]},
            accelerator=registry.accelerators["Acme-X1"],
            registry=registry,
        )
    ```
    """


@hookspec
def alignsim_solvers() -> Iterable[Solver]:
    """Offer solvers: each answers one question about a scenario, with an answer of its own type.

    ```python
    from alignsim import hookimpl


    class LeastTensor:
        '''The least tensor-parallel degree at which 80 GiB are enough.'''

        name = "least-tensor"

        def solve(self, scenario):
            return next((t for t in (1, 2, 4, 8) if scenario.using(tensor=t).result.peak <= 80 * 2**30), None)


    @hookimpl
    def alignsim_solvers():
        yield LeastTensor()
    ```
    """


@hookspec
def alignsim_validations() -> Iterable[Validation]:
    """Offer kinds of measurements: how the content of a file becomes cases, each with what predicts it.

    ``alignsim validate --source acme-runs FILE.json`` predicts every case and compares.

    ```python
    from alignsim import Case, Validation, hookimpl
    from alignsim.fields import Fields


    def cases(data):
        for row in Fields(data).each("rows"):
            tokens = row.count("tokens", least=1)
            yield Case(
                key=row.text("id"),
                measured_peak=row.number("peak_bytes"),
                predict=lambda tokens=tokens: {"update": 4096.0 * tokens},
            )


    @hookimpl
    def alignsim_validations():
        yield Validation(name="acme-runs", cases=cases, about="peaks that Acme's trainer logs")
    ```
    """


@hookspec
def alignsim_commands() -> Iterable[click.Command]:
    """Offer commands of the command line, as click commands. They are made only when a command line runs.

    ```python
    from alignsim import hookimpl


    @hookimpl
    def alignsim_commands():
        import click

        @click.command("acme-report")
        def report():
            '''Print what Acme has to say.'''
            click.echo("all is well")

        yield report
    ```
    """
