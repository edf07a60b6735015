"""Attention of several heads, and the transformer layers that are made of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ops
from ..dtype import float32
from ..errors import ArgumentError, ShapeError, UnsupportedOperation
from ..tensor import Parameter
from .activations import GELU
from .cell import Cell
from .initializers import initial
from .layers import Dense, Dropout
from .normalization import LayerNorm

__all__ = ["MultiheadAttention", "TransformerDecoderLayer", "TransformerEncoderLayer"]


class MultiheadAttention(Cell):
    """``softmax(Q Kᵀ / √d) V`` for each of ``num_heads`` parts of the embedding, joined and multiplied once more.

    It is called with query ``(l, n, embed_dim)``, key ``(s, n, kdim)`` and value ``(s, n, vdim)``, n first where
    ``batch_first``, and gives the output, of the shape of the query, and the weights: their mean over heads,
    ``(n, l, s)``, each head's where ``average_attn_weights=False``, None where ``need_weights=False``.

    ``attn_mask`` of shape ``(l, s)`` or ``(n · num_heads, l, s)`` and ``key_padding_mask`` ``(n, s)``: where they are
    True nothing is looked at; floats are added to the products. ``dropout`` is of the weights, in training. Source:
    Vaswani et al., Attention is all you need (2017). Sizes that do not fit are a ShapeError or ArgumentError.

    >>> y, weights = MultiheadAttention(4, 2)(*[np.ones((3, 1, 4), np.float32)] * 3)
    >>> y.shape, weights.shape
    ((3, 1, 4), (1, 3, 3))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        if not isinstance(embed_dim, int) or not isinstance(num_heads, int) or num_heads < 1 or embed_dim % num_heads:
            raise ArgumentError(f"MultiheadAttention: {embed_dim!r} elements are no multiple of {num_heads!r} heads.")
        if add_bias_kv or add_zero_attn:
            raise UnsupportedOperation(
                "MultiheadAttention: add_bias_kv and add_zero_attn are not supported; join such rows to key and value."
            )
        self.embed_dim, self.num_heads, self.batch_first = embed_dim, num_heads, batch_first
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        if self.kdim == self.vdim == embed_dim:
            self.in_proj_weight = Parameter(initial("xavier_uniform", (3 * embed_dim, embed_dim), dtype))
        else:
            for name, size in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
                setattr(self, f"{name}_proj_weight", Parameter(initial("xavier_uniform", (embed_dim, size), dtype)))
        if has_bias:
            self.in_proj_bias = Parameter(initial("zeros", (3 * embed_dim,), dtype))
        self.out_proj = Dense(embed_dim, embed_dim, bias_init="zeros", has_bias=has_bias, dtype=dtype)
        self.dropout = Dropout(p=float(dropout))

    def construct(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
    ):
        if self.batch_first:
            query, key, value = (np.swapaxes(x, 0, 1) for x in (query, key, value))
        sizes = (self.embed_dim, self.kdim, self.vdim)
        if any(np.ndim(x) != 3 or np.shape(x)[-1] != d for x, d in zip((query, key, value), sizes, strict=True)):
            shapes = [np.shape(x) for x in (query, key, value)]
            raise ShapeError(f"MultiheadAttention: arrays of shapes {shapes} do not fit embeddings of {sizes}.")
        own, count, _ = np.shape(query)
        others = np.shape(key)[0]
        q, k, v = (self._heads(place, x) for place, x in enumerate((query, key, value)))
        scores = np.matmul(q / math.sqrt(self.embed_dim // self.num_heads), np.swapaxes(k, -1, -2))
        if attn_mask is not None:
            wide = np.reshape(attn_mask, (count, self.num_heads, own, others)) if np.ndim(attn_mask) == 3 else attn_mask
            scores = _masked(scores, wide)
        if key_padding_mask is not None:
            scores = _masked(scores, np.reshape(key_padding_mask, (count, 1, 1, others)))
        weights = ops.softmax(scores)
        heads = np.matmul(self.dropout(weights), v)
        y = self.out_proj(np.reshape(np.transpose(heads, (2, 0, 1, 3)), (own, count, self.embed_dim)))
        y = np.swapaxes(y, 0, 1) if self.batch_first else y
        if not need_weights:
            return y, None
        return y, np.mean(weights, axis=1) if average_attn_weights else weights

    def _heads(self, place: int, x: Any) -> Any:
        """The part of query, key or value of each head: ``(n, heads, length, size)``."""
        part = slice(place * self.embed_dim, (place + 1) * self.embed_dim)
        whole = getattr(self, "in_proj_weight", None)
        weight = whole[part] if whole is not None else getattr(self, f"{'qkv'[place]}_proj_weight")
        y = np.matmul(x, np.swapaxes(weight, 0, 1))
        bias = getattr(self, "in_proj_bias", None)
        y = y if bias is None else y + bias[part]
        length, count, _ = np.shape(x)
        apart = np.reshape(y, (length, count, self.num_heads, self.embed_dim // self.num_heads))
        return np.transpose(apart, (1, 2, 0, 3))

    def extend_repr(self) -> str:
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


def _masked(scores: Any, mask: Any) -> Any:
    return np.where(mask, -np.inf, scores) if mask.dtype.kind == "b" else scores + mask


class _Transformer(Cell):
    """What the layers share: attention of its own, a network of two layers, and normalizations."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        exact = GELU(approximate=False) if activation == "gelu" else activation  # as ops.gelu, which these layers take
        self.linear1 = Dense(d_model, dim_feedforward, activation=exact, dtype=dtype)
        self.linear2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm1 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm2 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.norm_first = norm_first

    def _added(self, x: Any, norm: Cell, change: Any) -> Any:
        """``x`` and what ``change`` makes of it, normalized first or then."""
        if self.norm_first:
            return x + self.dropout(change(norm(x)))
        return norm(x + self.dropout(change(x)))

    def _fed(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.linear1(x)))


class TransformerEncoderLayer(_Transformer):
    """Attention of a sequence to itself, then a network of two layers at each place, both added and normalized.

    Called with ``(src, src_mask=None, src_key_padding_mask=None)``. The first layer has ``dim_feedforward`` outputs and
    the ``activation``; ``norm_first`` normalizes before, not after. Masks are as those of ``MultiheadAttention``.

    >>> TransformerEncoderLayer(4, 2, 8)(np.ones((3, 1, 4), np.float32)).shape
    (3, 1, 4)
    """

    def construct(self, src, src_mask=None, src_key_padding_mask=None):
        def attended(x: Any) -> Any:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask)[0]

        return self._added(self._added(src, self.norm1, attended), self.norm2, self._fed)


class TransformerDecoderLayer(_Transformer):
    """As the encoder's layer, with attention to the ``memory`` of an encoder between.

    Called with ``(tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
    memory_key_padding_mask=None)``.

    >>> TransformerDecoderLayer(4, 2, 8)(np.ones((3, 1, 4), np.float32), np.ones((5, 1, 4), np.float32)).shape
    (3, 1, 4)
    """

    def __init__(self, d_model: int, nhead: int, *args: Any, **options: Any) -> None:
        super().__init__(d_model, nhead, *args, **options)
        own = self.self_attn
        dtype = own.out_proj.weight.dtype
        batch_first, dropout = own.batch_first, own.dropout.p
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        self.norm3 = LayerNorm((d_model,), epsilon=self.norm1.epsilon, dtype=dtype)

    def construct(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
    ):
        def attended(x: Any) -> Any:
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)[0]

        def remembered(x: Any) -> Any:
            return self.multihead_attn(x, memory, memory, memory_key_padding_mask, False, memory_mask)[0]

        x = self._added(self._added(tgt, self.norm1, attended), self.norm2, remembered)
        return self._added(x, self.norm3, self._fed)
