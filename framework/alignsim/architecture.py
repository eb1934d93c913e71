"""The described transformer: the shape of a decoder-only language model, free of arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs
from attrs import field

from alignsim.errors import InvalidInput, Problem, UnitError, suggestion
from alignsim.given import Given, Inputs, as_count, as_flag, at_least, described
from alignsim.limits import SWITCH

HEADS = ("language-model", "scalar")


def _as_optional_count(value: Any) -> Any:
    return None if value is None else as_count(value)


def _as_name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UnitError(f"expected a name, got {value!r}")
    if set(value) & set("{}\n"):
        raise UnitError(f"expected a name without braces and line breaks, got {value!r}")
    return value.strip()


def _as_names(value: Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        raise UnitError(f"expected a list of names, got the text {value!r}")
    return tuple(_as_name(name) for name in value)


def _as_head(value: Any) -> str:
    if value not in HEADS:
        raise UnitError(f"no head {value!r}; {suggestion(str(value), HEADS)}")
    return str(value)


_OWNED = {
    "experts": (
        "experts_per_token",
        "expert_ffn",
        "expert_bias",
        "router_bias",
        "router_in_32_bits",
        "dense_layers",
        "shared_experts",
    ),
    "shared_experts": ("shared_ffn", "shared_gate"),
    "kv_lora_rank": ("q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"),
}


@described
@attrs.frozen(kw_only=True)
class Architecture(Inputs):
    """A decoder-only transformer. Widths are counted in elements; what a model has not is 0 or False.

    Attributes:
        name: what the model is called.
        aliases: other names of the same shape, such as repositories of the Hugging Face Hub.
        layers: transformer layers, without those that predict further tokens (MTP).
        hidden: width of the residual stream.
        heads: query heads a layer.
        kv_heads: key and value heads a layer; ``heads`` where absent.
        head_dim: width of one head; where absent, that of a latent query, or ``hidden / heads``.
        ffn: inner width of the MLP of a dense layer.
        vocab: rows of the token embedding, padding included.
        parameters: a stated parameter count, which wins over the one derived from the shape; ``ffn`` and ``vocab``
            may then be absent.
        recorded: a count that was obtained without deriving it from the shape, with its source: what the shape has
            to arrive at.
        head: ``language-model``, or ``scalar`` (one number a token without bias: critics, reward models).
        tied: the head uses the token embedding.
        head_bias: the head of a language model has a bias.
        learned_positions: rows of a learned position embedding.
        max_positions: the longest sequence that it was made for; 0 where unknown.
        gated: the MLP has a gate (three matrices, SwiGLU, GeGLU), not two matrices.
        qkv_bias: the projections to query, key and value have biases.
        fused_qkv: one projection gives all three, and values stay a view of it (rotary queries and keys are copies).
        output_bias: the projection out of attention has one.
        written_out_gelu: the activation is GELU written out as several operations (GPT-2, Phi).
        relu: the activation is ReLU, which keeps nothing but its result (OPT).
        mlp_bias: the matrices of dense MLPs have biases.
        norms: normalisations of the residual width in a layer: 2; 4 around both blocks; 1 in some parallel layers.
        rms_norm: they are RMSNorm, not LayerNorm.
        norm_weight: they have a weight.
        scales_in_32_bits: they multiply by it in 32 bits, before they give the width its format back (Gemma, OLMo 2).
        norm_in_32_bits: they are LayerNorm of a copy in 32 bits (OLMo).
        written_out_norm: they are LayerNorm written out as several operations in 32 bits (Cohere).
        norm_bias: they have a bias.
        parallel: attention and MLP read the same input side by side.
        qk_norm: each query and key head is normalised, by one weight a width of head.
        qk_norm_full: query and key are normalised over all their heads together.
        attention_sinks: each head has a learned sink.
        narrow_softmax: written out, the softmax of scores has the format of arithmetic, not 32 bits (GPT-2).
        caps_scores: scores go through a tangent that keeps them within bounds (Gemma 2).
        caps_logits: so do logits.
        window: tokens that a sliding-window layer (or one with chunked attention) looks back.
        window_layers: how many layers do so.
        experts: routed experts in a layer that has them.
        experts_per_token: how many of them a token passes.
        expert_ffn: inner width of one routed expert.
        expert_bias: the matrices of routed experts have biases.
        router_bias: the router has a learned bias.
        router_in_32_bits: the router multiplies in 32 bits (DeepSeek, GLM-4.5).
        shared_experts: experts that every token passes.
        shared_ffn: inner width of one shared expert.
        shared_gate: the shared experts are weighed by a gate of their own.
        dense_layers: leading layers without experts.
        expert_every: after those, the last of so many layers has experts: 1 for all, 2 for every second.
        q_lora_rank: width of the latent query (MLA); 0 where queries are projected directly.
        kv_lora_rank: width of the latent key and value, which makes the attention MLA.
        qk_nope_head_dim: width of a query head without position.
        qk_rope_head_dim: width of the key with rotary position that all heads share.
        v_head_dim: width of a value head.

    Raises:
        InvalidInput: with all that is wrong at once.
    """

    name: str = field(converter=_as_name)
    aliases: tuple[str, ...] = field(default=(), converter=_as_names)
    layers: int = field(converter=as_count, validator=at_least(1))
    hidden: int = field(converter=as_count, validator=at_least(1))
    heads: int = field(converter=as_count, validator=at_least(1))
    kv_heads: int = field(default=None, converter=_as_optional_count, validator=at_least(1))
    head_dim: int = field(default=None, converter=_as_optional_count, validator=at_least(1))
    ffn: int = field(default=0, converter=as_count, validator=at_least(0))
    vocab: int = field(default=0, converter=as_count, validator=at_least(0))
    parameters: int | None = field(default=None, converter=_as_optional_count, validator=at_least(1))
    recorded: Given | None = None
    head: str = field(default="language-model", converter=_as_head)
    tied: bool = field(default=False, converter=as_flag)
    head_bias: bool = field(default=False, converter=as_flag)
    learned_positions: int = field(default=0, converter=as_count, validator=at_least(0))
    max_positions: int = field(default=0, converter=as_count, validator=at_least(0))
    gated: bool = field(default=True, converter=as_flag)
    qkv_bias: bool = field(default=False, converter=as_flag)
    fused_qkv: bool = field(default=False, converter=as_flag)
    output_bias: bool = field(default=False, converter=as_flag)
    relu: bool = field(default=False, converter=as_flag)
    mlp_bias: bool = field(default=False, converter=as_flag)
    norms: int = field(default=2, converter=as_count, validator=at_least(0))
    rms_norm: bool = field(default=True, converter=as_flag)
    norm_weight: bool = field(default=True, converter=as_flag)
    scales_in_32_bits: bool = field(default=False, converter=as_flag)
    written_out_gelu: bool = field(default=False, converter=as_flag)
    norm_in_32_bits: bool = field(default=False, converter=as_flag)
    written_out_norm: bool = field(default=False, converter=as_flag)
    norm_bias: bool = field(default=False, converter=as_flag)
    parallel: bool = field(default=False, converter=as_flag)
    qk_norm: bool = field(default=False, converter=as_flag)
    qk_norm_full: bool = field(default=False, converter=as_flag)
    attention_sinks: bool = field(default=False, converter=as_flag)
    narrow_softmax: bool = field(default=False, converter=as_flag)
    caps_scores: bool = field(default=False, converter=as_flag)
    caps_logits: bool = field(default=False, converter=as_flag)
    window: int = field(default=0, converter=as_count, validator=at_least(0))
    window_layers: int = field(default=0, converter=as_count, validator=at_least(0))
    experts: int = field(default=0, converter=as_count, validator=at_least(0))
    experts_per_token: int = field(default=0, converter=as_count, validator=at_least(0))
    expert_ffn: int = field(default=0, converter=as_count, validator=at_least(0))
    expert_bias: bool = field(default=False, converter=as_flag)
    router_bias: bool = field(default=False, converter=as_flag)
    router_in_32_bits: bool = field(default=False, converter=as_flag)
    shared_experts: int = field(default=0, converter=as_count, validator=at_least(0))
    shared_ffn: int = field(default=0, converter=as_count, validator=at_least(0))
    shared_gate: bool = field(default=False, converter=as_flag)
    dense_layers: int = field(default=0, converter=as_count, validator=at_least(0))
    expert_every: int = field(default=1, converter=as_count, validator=at_least(1))
    q_lora_rank: int = field(default=0, converter=as_count, validator=at_least(0))
    kv_lora_rank: int = field(default=0, converter=as_count, validator=at_least(0))
    qk_nope_head_dim: int = field(default=0, converter=as_count, validator=at_least(0))
    qk_rope_head_dim: int = field(default=0, converter=as_count, validator=at_least(0))
    v_head_dim: int = field(default=0, converter=as_count, validator=at_least(0))

    def __attrs_post_init__(self) -> None:
        latent = self.qk_nope_head_dim + self.qk_rope_head_dim if self.qk_nope_head_dim else 0
        even = 0 if self.hidden % self.heads else self.hidden // self.heads  # 0 is refused below
        for name, resolved in (("kv_heads", self.heads), ("head_dim", latent or even)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, resolved)

    def numbers(self) -> dict[str, Given]:
        """Return the numbers by name; ``scalar_head`` stands for ``head``, and ``parameters`` is there if stated."""
        source = self.sources.get("head", self.source)
        scalar = Given(float(self.head == "scalar"), source=source, limits=(SWITCH,))
        return {**super().numbers(), "scalar_head": scalar}

    def with_scalar_head(self, *, name: str | None = None, parameters: int | None = None) -> Architecture:
        """Return the model with one number a token in place of a vocabulary: a critic or a reward model.

        Args:
            name: what it is called; ``<name>-scalar`` unless given.
            parameters: its own stated count. A model that states its count needs it, since nobody can know what the
                stated count has for a head.

        Raises:
            InvalidInput: this model states its parameters, and ``parameters`` is absent.
        """
        if self.parameters is not None and parameters is None:
            stated = f"{self.name} states {self.parameters:,} for its present head"
            raise InvalidInput(Problem("parameters", f"{stated}; say with_scalar_head(parameters=...)"))
        changed: Mapping[str, Any] = {"aliases": (), "head": "scalar", "head_bias": False, "recorded": None}
        return attrs.evolve(self, name=name or f"{self.name}-scalar", parameters=parameters, **changed)

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with several fields together."""
        if self.heads % self.kv_heads:
            what = "exceeds" if self.kv_heads > self.heads else "does not divide"
            yield Problem("kv_heads", f"{self.kv_heads} {what} heads {self.heads}")
        if not self.head_dim:
            yield Problem("head_dim", f"is required: hidden {self.hidden} is not divisible by heads {self.heads}")
        yield from self._needed()
        yield from self._at_odds()
        yield from self._beyond()

    def _needed(self) -> Iterator[Problem]:
        derived = self.parameters is None
        dense = not self.experts or self.dense_layers or self.expert_every > 1
        for name, needed, why in (
            ("ffn", derived and dense, "unless parameters is stated"),
            ("vocab", derived, "unless parameters is stated"),
            ("qk_nope_head_dim", derived and self.kv_lora_rank, "with kv_lora_rank, unless parameters is stated"),
            ("v_head_dim", derived and self.kv_lora_rank, "with kv_lora_rank, unless parameters is stated"),
            ("expert_ffn", derived and self.experts, "with experts, unless parameters is stated"),
            ("shared_ffn", derived and self.shared_experts, "with shared_experts, unless parameters is stated"),
            ("qk_rope_head_dim", self.kv_lora_rank, "with kv_lora_rank"),
            ("experts_per_token", self.experts, "with experts"),
            ("window", self.window_layers, "with window_layers"),
            ("window_layers", self.window, "with window"),
        ):
            if needed and not getattr(self, name):
                yield Problem(name, f"is required {why}")

    def _at_odds(self) -> Iterator[Problem]:
        if self.rms_norm and self.norm_bias:
            yield Problem("norm_bias", "is true, but RMSNorm has no bias; say rms_norm=False for LayerNorm")
        for name in ("norm_in_32_bits", "written_out_norm"):
            if self.rms_norm and getattr(self, name):
                yield Problem(name, "is true, but only of LayerNorm; say rms_norm=False with it")
        if self.qk_norm and self.qk_norm_full:
            yield Problem("qk_norm_full", "is true, and so is qk_norm; a model has one or the other")
        for owner, owned in _OWNED.items():
            for name in owned:
                if getattr(self, name) and not getattr(self, owner):
                    yield Problem(name, f"is {getattr(self, name)!r}, but {owner} is 0")
        for name in ("qkv_bias", "output_bias", "qk_norm", "qk_norm_full", "attention_sinks"):
            if getattr(self, name) and self.kv_lora_rank:
                yield Problem(name, "is true, but latent attention (kv_lora_rank) is only known without it")
        if self.head == "scalar" and self.head_bias:
            yield Problem("head_bias", "is true, but a scalar head has no bias")

    def _beyond(self) -> Iterator[Problem]:
        for name, limit in (
            ("experts_per_token", "experts"),
            ("window_layers", "layers"),
            ("dense_layers", "layers"),
            ("expert_every", "layers"),
        ):
            value, most = getattr(self, name), getattr(self, limit)
            if most and value > most:
                yield Problem(name, f"{value} exceeds {limit} {most}")
