"""The Gaussian mixture of ADBench with its Wishart prior: as it is vectorised, and as it is written in loops."""

import math

import numpy as np


def log_gamma_distrib(a, p):
    total = 0.25 * p * (p - 1) * math.log(math.pi)
    for j in range(1, p + 1):
        total += math.lgamma(a + 0.5 * (1 - j))
    return total


def log_wishart_prior(p, wishart_gamma, wishart_m, sum_qs, Qdiags, icf):
    n = p + wishart_m + 1
    k = icf.shape[0]
    frobenius = np.sum(Qdiags**2, axis=1) + np.sum(icf[:, p:] ** 2, axis=1)
    out = np.sum(0.5 * wishart_gamma**2 * frobenius - wishart_m * sum_qs)
    C = n * p * (math.log(wishart_gamma) - 0.5 * math.log(2)) - log_gamma_distrib(0.5 * n, p)
    return out - k * C


def construct_l(d, icf):
    L = []
    index = d
    for i in range(d):
        count = d - i - 1
        L.append(np.concatenate([np.zeros(i + 1), icf[index : index + count]]))
        index += count
    return np.stack(L, axis=-1)


def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def gmm_objective(alphas, means, icf, x, wishart_gamma, wishart_m):
    n, d = x.shape
    k = len(alphas)
    Qdiags = np.exp(icf[:, :d])
    sum_qs = np.sum(icf[:, :d], axis=1)
    Ls = np.stack([construct_l(d, row) for row in icf])
    main = np.zeros((n, k))
    for ix in range(n):
        for ik in range(k):
            centered = x[ix] - means[ik]
            Lxcentered = Qdiags[ik] * centered + Ls[ik] @ centered
            main[ix, ik] = alphas[ik] + sum_qs[ik] - 0.5 * np.sum(Lxcentered**2)
    slse = sum([log_sum_exp(row) for row in main])
    constant = -n * d * 0.5 * math.log(2 * math.pi)
    prior = log_wishart_prior(d, wishart_gamma, wishart_m, sum_qs, Qdiags, icf)
    return constant + slse - n * log_sum_exp(alphas) + prior


def q_times_x(q_diag, ltri, x):
    d = len(x)
    out = np.zeros(d)
    for i in range(d):
        out[i] = q_diag[i] * x[i]
    index = 0
    for i in range(d):
        for j in range(i + 1, d):
            out[j] = out[j] + ltri[index] * x[i]
            index += 1
    return out


def gmm_objective_in_loops(alphas, means, icf, x, wishart_gamma, wishart_m):
    n, d = x.shape
    k = len(alphas)
    q_diags = np.zeros((k, d))
    sum_qs = np.zeros(k)
    for ik in range(k):
        for i in range(d):
            q = icf[ik, i]
            sum_qs[ik] = sum_qs[ik] + q
            q_diags[ik, i] = math.exp(q)
    slse = 0.0
    main_term = np.zeros(k)
    xcentered = np.zeros(d)
    for ix in range(n):
        for ik in range(k):
            np.subtract(x[ix], means[ik], out=xcentered)
            Qxcentered = q_times_x(q_diags[ik], icf[ik, d:], xcentered)
            sqnorm = 0.0
            for value in Qxcentered:
                sqnorm += value * value
            main_term[ik] = alphas[ik] + sum_qs[ik] - 0.5 * sqnorm
        m = max(main_term)
        semx = 0.0
        for value in main_term:
            semx += math.exp(value - m)
        slse += math.log(semx) + m
    constant = -n * d * 0.5 * math.log(2 * math.pi)
    prior = log_wishart_prior(d, wishart_gamma, wishart_m, sum_qs, q_diags, icf)
    return constant + slse - n * log_sum_exp(alphas) + prior


def small_problem(seed=0, n=3, d=3, k=2):
    rng = np.random.default_rng(seed)
    icf = 0.5 * rng.standard_normal((k, d * (d + 1) // 2))
    return rng.standard_normal(k), rng.standard_normal((k, d)), icf, rng.standard_normal((n, d)), 1.0, 0
