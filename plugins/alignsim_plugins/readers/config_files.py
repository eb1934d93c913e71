"""A model from its ``config.json``, or from the folder that it is in; weights beside it are counted too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from alignsim import Architecture, Found, InvalidInput, Origin, Problem, Reader, Registry, hookimpl
from alignsim.counts import parameter_counts, total
from alignsim.fields import short
from alignsim.given import EXACT
from alignsim.jsonfile import Document, read_document
from alignsim.shapes import shape_of
from alignsim_plugins.readers.paths import ADAPTER, CONFIG, MOST, is_model, name_of
from alignsim_plugins.readers.safetensors import INDEX, beside, differing, index, summed, tensors

HEADS = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
"""How transformers calls classes with the head of a language model."""


def read_model(text: str, registry: Registry) -> Found:
    """Return the model that a path leads to.

    Raises:
        InvalidInput: nothing is there, or it is wrong; each problem has its file, and its key and line if it has one.
    """
    path = Path(os.path.expanduser(text))
    if path.name.endswith((".safetensors", INDEX)):
        return _weights(path)
    if os.path.isdir(path):
        folder, path = path, path / CONFIG
        if not os.path.exists(path):
            return _without_config(folder)
        return _with_weights(_configured(path, registry), folder, registry)
    return _configured(path, registry)


def _configured(path: Path, registry: Registry) -> Found:
    document = read_document(path, MOST, finite=False)
    content = document.content
    if isinstance(content, dict) and "model_type" not in content:
        what = "says how a model is quantised, not what it is" if "quantization" in content else "does not say"
        message = f"is required: this file {what}; the {CONFIG} of a model has it"
        raise InvalidInput(Problem("model_type", message, Origin(document.file)))
    return described(document, name_of(path), registry)


def described(document: Document, name: str, registry: Registry) -> Found:
    """Return the model that a configuration describes.

    Raises:
        InvalidInput: it is wrong, or none that can be described.
    """
    shape = shape_of(document, registry.families, name)
    model, head = _headed(shape.architecture, document)
    counted = total(parameter_counts(model, registry))
    if counted is not None and counted > EXACT:
        message = f"describes {counted:.3g} parameters, above 2^53, more than any model has"
        raise InvalidInput(Problem("", message, Origin(document.file)))
    notes = (f"read as family {shape.family}", *shape.notes, *head, *_formats(document.content))
    return Found(model, notes)


def _headed(model: Architecture, document: Document) -> tuple[Architecture, list[str]]:
    """Return the model with the head that the class in the file has, and what is to be said of it.

    Raises:
        InvalidInput: a head with several numbers for a sequence.
    """
    classes = document.content.get("architectures")
    name = classes[0] if isinstance(classes, list) and classes and isinstance(classes[0], str) else ""
    if name.endswith("ForSequenceClassification"):
        labels = document.content.get("id2label", document.content.get("num_labels", 2))
        number = len(labels) if isinstance(labels, dict) else labels
        if number != 1:
            message = f"{name} gives {short(number)} numbers a sequence; a head is only known with one"
            raise InvalidInput(Problem("id2label", message, document.origin("id2label")))
        where = f"{document.origin('architectures')}, architectures"
        scalar = model.with_scalar_head(name=model.name)
        return attrs.evolve(scalar, sources={**model.sources, "head": where}), [f"one number a token: {name}"]
    if name.endswith(HEADS) or not name:
        return model, []
    return model, [f"counted with the head of a language model, which {short(name)[1:-1]} may not have"]


def _formats(content: Any) -> Iterator[str]:
    """Yield what the file says of formats, which the shape has nothing of."""
    for each in (content, content.get("text_config")):
        if not isinstance(each, dict):
            continue
        format_ = each.get("dtype") or each.get("torch_dtype")
        if isinstance(format_, str):
            yield f"stored as {short(format_)[1:-1]}; a run has its own formats: see slot precision"
            break
    quantised = content.get("quantization_config")
    if isinstance(quantised, dict):
        method = quantised.get("quant_method")
        yield f"stored quantised ({short(method)[1:-1] if isinstance(method, str) else 'somehow'}): counted as if not"


def _with_weights(found: Found, folder: Path, registry: Registry) -> Found:
    files, why = beside(folder)
    if not files:
        return Found(found.item, (*found.notes, *([why] if why else [])))
    held = [tensor for file in files for tensor in tensors(file)]
    model: Architecture = found.item
    counted = total(parameter_counts(model, registry)) or 0
    told = differing(counted, held, model.vocab * model.hidden)
    return Found(model, (*found.notes, told), summed(held))


def _weights(path: Path) -> Found:
    if not path.name.endswith(INDEX):
        return Found(None, (), summed(tensors(path)))
    names, size = index(path)
    there = [path.parent / name for name in names if os.path.isfile(path.parent / name)]
    said = [f"the index tells of {size:,} bytes in {len(names)} files"] if size is not None else []
    if len(there) < len(names):
        return Found(None, (*said, f"{len(there)} of its {len(names)} files are here: nothing is counted"))
    return Found(None, tuple(said), summed(tensor for file in there for tensor in tensors(file)))


def _without_config(folder: Path) -> Found:
    origin = Origin(str(folder))
    if os.path.exists(folder / ADAPTER):
        message = f"holds an adapter, not a model: name the model that it is for, and -c adapter={folder}"
        raise InvalidInput(Problem("", message, origin))
    files, why = beside(folder)
    if not files:
        raise InvalidInput(Problem("", why or f"has no {CONFIG}", origin))
    return Found(None, (), summed(tensor for file in files for tensor in tensors(file)))


@hookimpl
def alignsim_readers() -> Iterator[Reader]:
    """Offer it."""
    yield Reader(
        name="model-files",
        catalogue="architectures",
        claims=is_model,
        read=read_model,
        about="config.json of transformers, or its folder; safetensors and their index",
    )
