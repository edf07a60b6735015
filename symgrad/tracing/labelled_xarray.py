"""Functions of xarray in traced functions: DataArrays made, joined, broadcast and computed with."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .dispatch import answers_for
from .labelled import LabelledTracer, lifted
from .labelled_datasets import is_dataset, made_of, stand_in
from .labelled_places import computed, moved_together, without_nan
from .labels import Labels
from .local_array import looking_into, unwrapped
from .making import array_of
from .trace import as_node
from .tracer import Tracer


def _xarray() -> Any:
    return sys.modules["xarray"]


@answers_for("xarray.DataArray")
def _array(data: Any = None, coords: Any = None, dims: Any = None, name: Any = None, attrs: Any = None) -> Any:
    if type(data) is LabelledTracer:
        like, array = data._labels.without_values(), data._array
    else:
        array = array_of(data) if isinstance(data, (list, tuple)) else data
        like = np.zeros(np.shape(array))
    labels = Labels(_xarray().DataArray(like, unwrapped(coords), unwrapped(dims), name, attrs))
    return LabelledTracer(looking_into(array), labels)


@answers_for("xarray.apply_ufunc")
def _apply_ufunc(func: Callable, *args: Any, **named: Any) -> Any:
    return computed(func, map(lifted, args), **named)


@answers_for("xarray.where")
def _where(cond: Any, x: Any, y: Any, keep_attrs: Any = None) -> Any:
    return computed(np.where, map(lifted, (cond, x, y)), join="exact")


@answers_for("xarray.dot")
def _dot(*arrays: Any, dim: Any = None, **named: Any) -> Any:
    values = [lifted(v) for v in arrays]
    dims = [v._labels.dims for v in values]
    shared = [d for d in dims[0] if all(d in other for other in dims)]
    along = shared if dim is None else dim
    product = functools.reduce(lambda a, b: a * b, values)
    return product.sum(dim=along, skipna=False)


@answers_for("xarray.concat")
def _concat(objs: Any, dim: Any, **named: Any) -> Any:
    return moved_together(list(map(stand_in, objs)), lambda v: _xarray().concat(v, dim, **named), "concat")


@answers_for("xarray.Dataset")
def _dataset(data_vars: Any = None, coords: Any = None, attrs: Any = None) -> Any:
    return made_of(data_vars, unwrapped(coords), attrs)


@answers_for("xarray.merge")
def _merge(objects: Any, **named: Any) -> Any:
    return moved_together(list(map(stand_in, objects)), lambda v: _xarray().merge(v, **named), "merge")


@answers_for("xarray.polyval")
def _polyval(coord: Any, coeffs: Any, degree_dim: str = "degree") -> Any:
    """Horner's rule, as xarray has it."""
    coeffs = lifted(coeffs["polyfit_coefficients"] if is_dataset(coeffs) else coeffs)
    degrees = coeffs._labels.without_values()[degree_dim].values
    own = {int(d): coeffs.isel({degree_dim: k}, drop=True) for k, d in enumerate(degrees)}
    coord = lifted(coord)
    made = coord * 0.0
    for degree in range(max(own), -1, -1):
        made = made * coord + own.get(degree, 0.0)
    return made


def _each(name: str) -> Callable:
    """A function that gives each of its arguments, arranged like the others."""

    def answer(*objects: Any, **named: Any) -> Any:
        values = [lifted(v) for v in objects]
        arrange = getattr(_xarray(), name)

        def one(k: int) -> Any:
            like = [v._labels.without_values() for v in values]
            return moved_together([values[k]], lambda v: arrange(*like[:k], v[0], *like[k + 1 :], **named)[k], name)

        return tuple(map(one, range(len(values))))

    return answer


for _name in ("align", "broadcast"):
    answers_for(f"xarray.{_name}")(_each(_name))


def _alike(name: str) -> Callable:
    """A function that makes an array of the same labels."""

    def answer(other: Any, *args: Any, **named: Any) -> Any:
        function, own = getattr(_xarray(), name), lifted(other)
        like = own._labels.without_values().astype(own.dtype)
        given = inspect.signature(function).bind(like, *args, **named).arguments
        fill = given.pop("fill_value", None)
        if fill is None:
            return lifted(function(**given))
        known = function(**given, fill_value=0.0)
        return LabelledTracer(known.values + Tracer(as_node(fill)).astype(known.dtype), Labels(known))

    return answer


for _name in ("zeros_like", "ones_like", "full_like"):
    answers_for(f"xarray.{_name}")(_alike(_name))


def _moments(name: str) -> Callable:
    """``xarray.cov`` and ``xarray.corr`` of arrays without NaN."""

    def answer(da_a: Any, da_b: Any, dim: Any = None, ddof: int = 1) -> Any:
        a, b = _each("broadcast")(*_each("align")(da_a, da_b, join="inner"))
        (a, b), along = (without_nan(v, f"xarray.{name}") for v in (a, b)), ... if dim is None else dim
        a, b = a - a.mean(along), b - b.mean(along)
        if name == "corr":
            return (a * b).sum(along) / np.sqrt((a**2).sum(along) * (b**2).sum(along))
        summed = (a * b).sum(along).astype(float)
        return summed / (a.size // summed.size - ddof)

    return answer


for _name in ("cov", "corr"):
    answers_for(f"xarray.{_name}")(_moments(_name))


@answers_for("xarray.*")
def _method(known: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """A method of a DataArray or a Dataset that is known, of traced values."""
    return getattr(stand_in(known), name)(*args, **kwargs)
