"""Tables and sparse matrices as people hold them: pandas, xarray, scipy.sparse."""

import math

import numpy as np
import pandas as pd
import xarray as xr
from collection import program
from scipy import sparse

FRAME = pd.DataFrame({"price": [1.0, 2.5, 4.0], "size": [0.5, 1.5, 2.0]}, index=["a", "b", "c"])
SERIES = pd.Series([0.5, -1.0, 2.0], index=["u", "v", "w"], name="load")
GRID = xr.DataArray(np.arange(6.0).reshape(2, 3) + 1, dims=("row", "column"))
MATRIX = sparse.csr_array(np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]))
SQUARE = sparse.csc_matrix(np.array([[2.0, 1.0], [0.0, 3.0]]))
V = np.array([1.0, -0.5, 2.0])


@program(SERIES, V)
def weighted_series(s, w):
    return np.sum(s.to_numpy() * w)


@program(SERIES)
def squares_of_a_series(s):
    return (s**2).sum()


@program(SERIES)
def a_series_in_numpy(s):
    return np.sum(np.exp(np.asarray(s)))


@program(FRAME)
def columns_by_name(df):
    return np.sum(df["price"].to_numpy() * df["size"].to_numpy())


@program(FRAME, np.array([0.3, 0.7]))
def a_frame_times_weights(df, w):
    return np.sum(np.tanh(df.to_numpy() @ w))


@program(np.array([0.3, 0.7]), FRAME)
def weights_of_a_frame(w, df):
    return np.sum((df.to_numpy() @ w - 1.0) ** 2)


@program(GRID)
def a_grid_of_xarray(g):
    return np.sum(np.asarray(g) ** 2)


@program(V)
def a_sparse_constant(x):
    return MATRIX @ x


@program(V)
def a_transposed_constant(x):
    return MATRIX.T @ np.sin(MATRIX @ x)


@program(np.array([0.5, 1.5]))
def a_vector_first(y):
    return y @ MATRIX


@program(V)
def dot_of_a_matrix(x):
    return math.exp(np.sum(MATRIX.dot(x)) / 10)


@program(MATRIX, V)
def a_sparse_argument(A, x):
    return np.sum(np.sin(A @ x))


@program(SQUARE, np.array([1.0, 2.0]))
def a_quadratic_form(A, x):
    return x @ (A @ x)


@program(np.array([1.0, 2.0]))
def a_matrix_in_an_array_made(x):
    rows = np.zeros(2)
    rows[:] = SQUARE @ np.array([x[0], x[1] ** 2])
    return rows
