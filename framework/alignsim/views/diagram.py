"""A dependency graph as Mermaid or as DOT, for others to draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from alignsim.graph import TermGraph
from alignsim.views.amounts import amount

SHAPES = {"given": ("([", "])", "ellipse"), "term": ("[", "]", "box")}
TOTAL = ("{{", "}}", "hexagon")


@attrs.frozen
class Vertex:
    """A labelled point: ``kind`` is that of the graph's node."""

    id: str
    label: tuple[str, ...]
    kind: str


@attrs.frozen(kw_only=True)
class Diagram:
    """Vertices and edges, in the order of evaluation.

    Attributes:
        vertices: every point; ids are unique.
        edges: pairs of ids, from an input to its user.
    """

    vertices: tuple[Vertex, ...]
    edges: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, graph: TermGraph, paths: Iterable[str], values: Mapping[str, float] | None = None) -> Diagram:
        """Return the part of a graph that has these paths; with the values, if they are given."""
        ids = {path: f"n{number}" for number, path in enumerate(paths)}
        vertices = []
        for path, name in ids.items():
            node = graph.nodes[path]
            label = (path,) if values is None else (path, amount(values[path], node.unit))
            vertices.append(Vertex(name, label, node.kind))
        edges = dict.fromkeys((ids[i], ids[p]) for p in ids for i in graph.nodes[p].inputs if i in ids)
        return cls(vertices=tuple(vertices), edges=tuple(edges))

    def mermaid(self) -> str:
        """Return the diagram in Mermaid's flowchart language."""
        lines = ["flowchart LR"]
        for vertex in self.vertices:
            left, right, _ = SHAPES.get(vertex.kind, TOTAL)
            lines.append(f'    {vertex.id}{left}"{"<br>".join(map(_entities, vertex.label))}"{right}')
        lines += [f"    {source} --> {user}" for source, user in self.edges]
        return "\n".join(lines)

    def dot(self) -> str:
        """Return the diagram in Graphviz' language."""
        lines = ["digraph alignsim {", "    rankdir=LR;"]
        for vertex in self.vertices:
            label = "\\n".join(text.replace("\\", "\\\\").replace('"', '\\"') for text in vertex.label)
            shape = SHAPES.get(vertex.kind, TOTAL)[2]
            lines.append(f'    "{vertex.id}" [label="{label}", shape={shape}];')
        lines += [f'    "{source}" -> "{user}";' for source, user in self.edges]
        return "\n".join([*lines, "}"])


def _entities(text: str) -> str:
    for character, entity in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "#96;")):
        text = text.replace(character, entity)
    return text
