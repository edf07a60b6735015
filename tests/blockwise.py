"""A program run stage by stage and block by block, by the interpreter of programs alone."""

import itertools

import numpy as np

from symgrad.passes.block_axes import BEFORE, Edges, blocks_of, first_of
from symgrad.passes.sizes import at_sizes
from symgrad.program.dims import value_of
from symgrad.program.interpret import interpreted


def blockwise(made, arrays, lengths):
    """The outputs of a split program, where the dims of ``lengths`` are in blocks of these."""
    known = dict(zip(made.program.inputs, arrays, strict=True))
    sizes = {d: sum(own) for d, own in lengths.items()} | {blocks_of(d): len(own) for d, own in lengths.items()}
    for node, array in zip(made.program.inputs, arrays, strict=True):
        sizes |= {d: n for d, n in zip(node.shape, np.shape(array), strict=True) if not isinstance(d, int)}
    for stage in made.stages:
        results = [None] * len(stage.gives)
        for numbers in itertools.product(*[range(len(lengths[d])) for d in stage.dims]):
            block = dict(zip(stage.dims, numbers, strict=True))
            edges = stage.edges([Edges(k == 0, k == len(lengths[d]) - 1) for d, k in block.items()])
            on_block = stage.on_blocks[edges]
            if on_block is None:
                continue
            reads = [stage.reads[k] for k in on_block.reads]
            pairs = zip(reads, on_block.reaches, strict=True)
            own = [np.asarray(known[n])[place(made.of(n), block, lengths, r)] for n, r in pairs]
            local = {
                d: v.shape[k]
                for n, v in zip(on_block.program.inputs, own, strict=False)
                for k, d in enumerate(n.shape)
                if d in sizes
            }
            firsts = {first_of(d): sum(lengths[d][:k]) for d, k in block.items()}
            totals = [float(value_of(d, sizes | firsts)) for d in stage.totals]
            values = interpreted(at_sizes(on_block.program, local), [*own, *totals])
            for k, (node, combine, value) in enumerate(zip(stage.gives, stage.combines, values, strict=True)):
                axes = made.of(node)
                if results[k] is None:
                    results[k] = [np.full([value_of(d, sizes) for d in node.shape], 99, node.dtype), set()]
                whole, seen = results[k]
                where = place(axes, block, lengths, [None] * len(axes))
                key = str(where)
                whole[where] = combine(whole[where], value) if key in seen else value
                assert combine is not None or key not in seen
                seen.add(key)
        for node, (whole, _) in zip(stage.gives, results, strict=True):
            known[node] = node.primitive.evaluate(node.params, whole) if node.primitive is BEFORE else whole
    return [known[o] for o in made.program.outputs]


def place(axes, block, lengths, reaches):
    """Where a block is, by adding up the lengths of those before it."""
    found = []
    for axis, reach in zip(axes, reaches, strict=True):
        if axis is None:
            found.append(slice(None))
            continue
        own, k = lengths[axis.dim], block[axis.dim]
        if not axis.times:
            found.append(slice(k, k + 1))
            continue
        low, high = reach or (0, axis.more if k == len(own) - 1 else 0)
        found.append(slice(axis.times * (sum(own[:k]) + low), axis.times * (sum(own[: k + 1]) + high)))
    assert all(s.start is None or 0 <= s.start <= s.stop for s in found)
    return tuple(found)
