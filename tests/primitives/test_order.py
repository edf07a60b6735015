"""The order of products: the fewest multiplications, where something is summed and where nothing is."""

from symgrad.primitives.order import pairwise_order


def test_products_that_sum_nothing_start_with_the_small_ones():
    assert pairwise_order(((0, 1), (0, 2), (2,)), (0, 1, 2), (1000, 20, 30)) == [(1, 2), (0, 1)]


def test_chains_start_where_the_result_is_small():
    assert pairwise_order(((0, 1), (1, 2), (2,)), (0,), (50, 50, 50)) == [(1, 2), (0, 1)]
