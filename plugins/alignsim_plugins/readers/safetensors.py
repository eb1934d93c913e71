"""What files of weights hold: headers of safetensors, without their tensors and without trusting what they say.

A file is 8 bytes with the length of a header, the header (JSON: a tensor's format, shape and place by name), and data
without holes. https://huggingface.co/docs/safetensors, section Format.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any

import attrs

from alignsim import InvalidInput, Origin, Problem, Stored
from alignsim.errors import suggestion
from alignsim.fields import Fields, short
from alignsim.jsonfile import at_most, document, read_document

MOST = 16 * 2**20
"""Bytes of the longest header that is read; of published models none is near it."""
BITS: Mapping[str, int] = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I8", "U8", "BOOL"), 8),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    "F4": 4,
}
WHOLE = frozenset({"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"})
"""Formats whose elements are parameters; in the others, weights may be packed several to one."""
ABOUT = "__metadata__"
INDEX = ".safetensors.index.json"


@attrs.frozen
class Tensor:
    """One tensor of a file: its name, its format, how many elements and bytes it has."""

    name: str
    format: str
    elements: int
    size: int


def tensors(path: Path) -> list[Tensor]:
    """Return what the header of a file names.

    Raises:
        InvalidInput: no such file, none of this format, one that was cut short, or one whose header is not true of it.
    """
    origin = Origin(str(path))
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe would keep us waiting
        raise InvalidInput(Problem("", "is no ordinary file", origin))
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            length = int.from_bytes(file.read(8), "little")
            if size < 10 or length + 8 > size:
                says = f"its header should have {length:,} bytes, and the file has {size:,}"
                raise InvalidInput(Problem("", f"is no safetensors file, or was cut short: {says}", origin))
            if length > MOST:
                raise InvalidInput(Problem("", f"has a header of {length:,} bytes; at most {MOST:,} are read", origin))
            header = file.read(length)
    except OSError as error:
        raise InvalidInput(Problem("", f"cannot be read: {error.strerror or error}", origin)) from None
    found = document(header, str(path))
    try:
        return _checked(Fields(found.content), size - 8 - length, origin)
    except InvalidInput as error:
        raise found.located(error) from None


def _checked(header: Fields, data: int, origin: Origin) -> list[Tensor]:
    found: list[tuple[int, int, Tensor]] = []
    problems: list[Problem] = []
    for name in header.data:
        if name == ABOUT:
            continue
        try:
            found.append(_tensor(header.inside(name), name))
        except InvalidInput as error:
            problems += [attrs.evolve(p, field=p.field[:200]) for p in error.problems]
    if problems:
        raise InvalidInput(at_most(problems, str(origin)))
    place = 0
    for begin, end, tensor in sorted(found, key=lambda each: each[:2]):
        if begin != place:
            message = f"its data begin at byte {begin:,}, where {place:,} was expected"
            raise InvalidInput(Problem(tensor.name[:200], message, origin))
        place = end
    if place != data:
        message = f"has {data:,} bytes of data, where its header tells of {place:,}: was it cut short?"
        raise InvalidInput(Problem("", message, origin))
    return [tensor for _, _, tensor in found]


def _tensor(fields: Fields, name: str) -> tuple[int, int, Tensor]:
    format_ = fields.text("dtype")
    if format_ not in BITS:
        raise fields.wrong("dtype", f"no format {short(format_)} is known; {suggestion(format_[:20], BITS)}")
    shape = _counts(fields, "shape", most=64)
    begin, end = _counts(fields, "data_offsets", most=2, least=2)
    elements = prod(shape)
    if begin > end or (end - begin) * 8 != elements * BITS[format_]:
        says = f"{elements:,} elements of {format_} take {elements * BITS[format_] / 8:,.0f} bytes, not {end - begin:,}"
        raise fields.wrong("data_offsets", says)
    return begin, end, Tensor(name, format_, elements, end - begin)


def _counts(fields: Fields, name: str, *, most: int, least: int = 0) -> list[int]:
    values = fields.any(name)
    if not isinstance(values, list) or not least <= len(values) <= most:
        raise fields.wrong(name, f"expected a list of {least or 'at most'} {most} numbers, got {short(values)}")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
            raise fields.wrong(name, f"expected whole numbers from 0 on, got {short(value)}")
    return values


def index(path: Path) -> tuple[list[str], int | None]:
    """Return the files that an index names, and the bytes of all tensors, if it says that.

    Raises:
        InvalidInput: it is no index, or names a file that is not beside it.
    """
    found = read_document(path)
    try:
        fields = Fields(found.content)
        by_tensor = fields.inside("weight_map")
        files = sorted({by_tensor.text(name) for name in by_tensor.data})
        for file in files:
            if Path(file).name != file or "\\" in file or not file.endswith(".safetensors"):
                raise fields.wrong("weight_map", f"expected names of files beside the index, got {short(file)}")
        about = fields.inside("metadata") if fields.data.get("metadata") else Fields({}, "metadata")
        return files, about.count("total_size") if "total_size" in about.data else None
    except InvalidInput as error:
        raise found.located(error) from None


def summed(found: Iterable[Tensor]) -> tuple[Stored, ...]:
    """Return what tensors add up to, format by format, the largest first."""
    by_format: dict[str, list[int]] = {}
    for tensor in found:
        sums = by_format.setdefault(tensor.format, [0, 0, 0])
        for place, more in enumerate((1, tensor.elements, tensor.size)):
            sums[place] += more
    told = (Stored(name, *sums) for name, sums in by_format.items())
    return tuple(sorted(told, key=lambda stored: (-stored.size, stored.format)))


def beside(folder: Path) -> tuple[list[Path], str]:
    """Return the files of weights of a model in a folder, or why there are none."""
    indices = sorted(folder.glob(f"*{INDEX}"))
    if len(indices) == 1:
        names, _ = index(indices[0])
        there = [folder / name for name in names if os.path.isfile(folder / name)]
        if len(there) < len(names):
            return [], f"weights: {len(there)} of the {len(names)} files that {indices[0].name} names are here"
        return there, ""
    whole = folder / "model.safetensors"
    if os.path.isfile(whole):
        return [whole], ""
    several = sorted(folder.glob("*.safetensors"))
    if len(several) > 1 or len(indices) > 1:
        return [], "weights: no single index says which files belong to the model"
    return several, ""


def differing(counted: float, found: list[Tensor], head: Any) -> str:
    """Return how the elements of weights differ from the parameters of a shape; ``head`` is those of its matrix."""
    names = {tensor.name for tensor in found}
    packed = sorted({tensor.format for tensor in found} - WHOLE)
    if packed:
        return f"weights: some are in {', '.join(packed)}, where several may be packed in one element"
    scales = [t for t in found if t.name.endswith(("_scale", "_scale_inv", ".scale", ".k_scale", ".v_scale"))]
    elements = sum(tensor.elements for tensor in found) - sum(scale.elements for scale in scales)
    off = elements - counted
    apart = f", beside {len(scales):,} tensors of scales" if scales else ""
    if not off:
        return f"weights: exactly as many as the shape gives{apart}"
    more = f"{abs(off):,.0f} {'more' if off > 0 else 'fewer'} than the shape gives"
    copied = off == head and "lm_head.weight" in names
    bare = off == -head and "lm_head.weight" not in names
    why = ": a head of their own" if copied else ": no head of their own, so it may be tied" if bare else ""
    return f"weights: {elements:,} elements{apart}, {more}{why}"
