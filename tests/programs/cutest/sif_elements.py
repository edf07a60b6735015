"""Element functions of CUTEst problems, as programs translate them from SIF: internal variables are set one by one.

Each is a transcription of its own: elemental variables come in a vector, ``U`` takes them to internal ones, the value
is a float.
"""

import math

import numpy as np
from collection import program


@program(np.array([1.3]))
def e_sq(EV_):
    f_ = EV_[0] * EV_[0]
    if not isinstance(f_, float):
        f_ = f_.item()
    return f_


@program(np.array([1.3, -0.4]))
def e_2prod(EV_):
    f_ = EV_[0] * EV_[1]
    if not isinstance(f_, float):
        f_ = f_.item()
    return f_


@program(np.array([1.3, -0.4, 0.6]))
def e_3prod(EV_):
    f_ = EV_[0] * EV_[1] * EV_[2]
    return float(f_)


@program(np.array([1.3, -0.4]))
def e_isq(EV_):
    U_ = np.zeros((1, 2))
    IV_ = np.zeros(1)
    U_[0, 0] = U_[0, 0] + 1
    U_[0, 1] = U_[0, 1] - 1
    IV_[0] = U_[0, :].dot(EV_)
    return IV_[0] * IV_[0]


@program(np.array([1.3, -0.4, 0.7]))
def e_2prod_internal(EV_):
    U_ = np.zeros((2, 3))
    IV_ = np.zeros(2)
    U_[0, 0] = U_[0, 0] + 1
    U_[1, 1] = U_[1, 1] + 1
    U_[1, 2] = U_[1, 2] + 1
    IV_[0] = U_[0, :].dot(EV_)
    IV_[1] = U_[1, :].dot(EV_)
    f_ = IV_[0] * IV_[1]
    if not isinstance(f_, float):
        f_ = f_.item()
    return f_


@program(np.array([1.3, -0.4, 0.7, 0.2]))
def e_quartic(EV_):
    U_ = np.zeros((1, 4))
    IV_ = np.zeros(1)
    U_[0, 0] += 1.0
    U_[0, 3] -= 2.0
    IV_[0] = U_[0] @ EV_
    return IV_[0] ** 4


@program(np.array([0.3, -0.4]))
def e_exp_product(EV_):
    ex = np.exp(EV_[0] * EV_[1])
    return ex.item() if not isinstance(ex, float) else ex


@program(np.array([0.3, 1.4, 0.7]), 0.2)
def e_expda(EV_, t):
    """Exponential data fit (BOX3 and its kin)."""
    e1 = math.exp(-t * EV_[0])
    e2 = math.exp(-t * EV_[1])
    return EV_[2] * (e1 - e2)


@program(np.array([0.3, 1.4]))
def e_sin_sum(EV_):
    IV_ = np.zeros(1)
    IV_[0] = EV_[0] + EV_[1]
    return np.sin(IV_[0])


@program(np.array([1.3, 2.4]))
def e_quotient(EV_):
    d = 1.0 / EV_[1]
    return EV_[0] * d * d


@program(np.array([0.4]))
def e_bratu_exp(EV_):
    return float(np.exp(EV_[0]))


@program(np.array([0.4, 1.1, 0.2, 0.9]))
def e_minsurf_root(EV_):
    """Minimal surface: the area of a patch."""
    IV_ = np.zeros(2)
    U_ = np.zeros((2, 4))
    U_[0, 0], U_[0, 3] = 1, -1
    U_[1, 1], U_[1, 2] = 1, -1
    for k in range(2):
        IV_[k] = U_[k, :].dot(EV_)
    return math.sqrt(1.0 + 0.5 * (IV_[0] ** 2 + IV_[1] ** 2))


@program(np.array([0.4, 1.1]))
def e_cosine(EV_):
    return np.cos(-0.5 * EV_[1] + EV_[0] ** 2)


@program(np.array([0.4, 1.1]))
def e_nondia(EV_):
    return (EV_[0] - EV_[1] ** 2) ** 2


@program(np.array([0.4, 1.1, 0.8]))
def e_eigen_element(EV_):
    """d q1 q2 of a spectral decomposition."""
    g = np.zeros(3)
    g[0] = EV_[1] * EV_[2]
    return EV_[0] * g[0]


@program(np.array([0.9, 0.2, 0.5, 0.1]))
def e_distance(EV_):
    IV_ = np.zeros(2)
    IV_[0] = EV_[0] - EV_[2]
    IV_[1] = EV_[1] - EV_[3]
    d2 = IV_[0] * IV_[0] + IV_[1] * IV_[1]
    return 1.0 / math.sqrt(d2)


@program(np.array([0.9, 0.2, 0.5]), also=(np.array([-0.9, 0.2, 0.5]),))
def e_truncated_square(EV_):
    """A penalty that is active on one side."""
    v = EV_[0] * EV_[1] - EV_[2] + 0.4
    if v <= 0.0:
        return 0.0 * v
    return v * v


@program(np.array([0.9, 0.2]), also=(np.array([0.05, 0.2]),))
def e_huber_element(EV_, k=0.5):
    a = abs(EV_[0] - EV_[1])
    if a <= k:
        return 0.5 * a * a
    return k * a - 0.5 * k * k


@program(np.array([0.6, 0.9]))
def e_arctan(EV_):
    v = np.zeros(2)
    v[0] = EV_[1] / EV_[0]
    v[1] = math.atan(v[0])
    return v[1] / (2 * math.pi)


@program(np.array([0.6, 0.9, 1.2]))
def e_logsum(EV_):
    s = 0.0
    for i in range(len(EV_)):
        s += (i + 1) * EV_[i]
    return math.log(s)


@program(np.array([0.6]))
def e_xlogx(EV_):
    return EV_[0] * math.log(EV_[0])


@program(np.array([0.6, 1.7]))
def e_xlogy(EV_):
    log = np.log(EV_[1])
    return (EV_[0] * log).item()


@program(np.array([0.6, 1.7, 0.3, 2.2]))
def e_four_products(EV_):
    P = np.ones((4, 4))
    for i in range(4):
        for j in range(4):
            P[i, j] = EV_[i] * EV_[j] if i != j else EV_[i] ** 2
    return P[0, 1] * P[2, 3]


@program(np.array([0.6, 1.7]))
def e_power_of_difference(EV_):
    IV_ = np.zeros(1)
    IV_[0] = EV_[1] - EV_[0]
    return np.power(IV_[0], 3.5)


@program(np.array([0.6, 1.7]), 2.5)
def e_power_by_parameter(EV_, p):
    return (EV_[0] ** 2 + EV_[1] ** 2) ** (p / 2)


@program(np.array([0.2, 0.4, 0.9]))
def e_gaussian_peak(EV_):
    z = (EV_[1] - EV_[2]) ** 2
    return EV_[0] * np.exp(-0.5 * z)


@program(np.array([1.2, 0.4, 0.9, 0.3, 1.1]))
def e_osborne(EV_, t=10.0):
    y = np.zeros(3)
    y[0] = EV_[0]
    y[1] = EV_[1] * math.exp(-t * EV_[3] / 10)
    y[2] = EV_[2] * math.exp(-t * EV_[4] / 10)
    return sum(y)


@program(np.array([0.25, 0.39, 0.41, 0.39]), 0.5)
def e_kowosb(EV_, u):
    b1 = u * (u + EV_[1])
    t1 = u * (u + EV_[2]) + EV_[3]
    return EV_[0] * b1 / t1


@program(np.array([2.0, 4.0, 2.5]), 50.0)
def e_meyer(EV_, t):
    y = np.zeros(1)
    y[0] = 1 / (t / 10 + EV_[2])
    return EV_[0] * np.exp(EV_[1] * y[0])


@program(np.array([1.0, 0.3]))
def e_jensen_sampson(EV_, i=2):
    s = 0.0
    for k in range(1, i + 1):
        s = s + math.exp(0.3 * k * EV_[0]) * math.exp(0.3 * k * EV_[1])
    return s


@program(np.array([0.4, 0.8, 0.1]))
def e_trig_element(EV_):
    cs = np.empty(3)
    for k in range(3):
        cs[k] = math.cos(EV_[k])
    return 3 - cs.sum() + 2 * (1 - cs[1]) - math.sin(EV_[1])


@program(np.array([0.4, 0.8]))
def e_broyden_band(EV_):
    r = np.zeros(2)
    r[0] = EV_[0] * (2 + 5 * EV_[0] * EV_[0])
    r[1] = EV_[1] * (1 + EV_[1])
    return r[0] - r[1]


@program(np.array([0.4, 0.8, 1.2]))
def e_convection(EV_):
    U_ = np.array([[1.0, 0.0, -1.0]])
    IV_ = np.zeros(1)
    IV_[0] = (U_ @ EV_)[0]
    return IV_[0] * EV_[1]


@program(np.array([0.4, 0.8, 1.2, 0.5]))
def e_determinant(EV_):
    M = np.zeros((2, 2))
    M[0, 0] = EV_[0]
    M[0, 1] = EV_[1]
    M[1, 0] = EV_[2]
    M[1, 1] = EV_[3] ** 2
    return M[0, 0] * M[1, 1] - M[0, 1] * M[1, 0]


@program(np.array([0.4, 0.8]))
def e_arrhenius(EV_):
    """Reaction rates of chemical engineering problems."""
    k = math.exp(-1.0 / (0.1 + EV_[1]))
    return k * EV_[0] * (1 - EV_[0])


@program(np.array([0.4, 0.8]))
def e_sqrt_sum(EV_):
    return math.sqrt(EV_[0] ** 2 + (EV_[1] - 1) ** 2)


@program(np.array([[0.4], [0.8]]))
def e_of_a_column(EV_):
    """Elemental variables as a column, as some programs hold them."""
    f_ = EV_[0, 0] * EV_[1, 0] ** 2
    if not isinstance(f_, float):
        f_ = f_.item()
    return f_


@program(np.array([0.4, 0.8, 1.5]))
def g_l2_group(EV_):
    """A group: the square of a linear term and its elements."""
    GVAR_ = EV_[0] - 2 * EV_[1] + EV_[2] ** 2 - 1.0
    return GVAR_ * GVAR_


@program(np.array([0.4, 0.8]), also=(np.array([-0.4, 0.2]),))
def g_absolute_group(EV_):
    return abs(EV_[0] - 0.5 * EV_[1] + 0.1)


@program(np.array([0.4, 0.8]))
def g_log_group(EV_):
    GVAR_ = 1 + EV_[0] ** 2 + 3 * EV_[1] ** 2
    return math.log(GVAR_) * 0.5


@program(np.array([0.4, 0.8]))
def g_root_of_sum(EV_):
    total = np.zeros(3)
    for i, v in enumerate(EV_):
        total[i + 1] = total[i] + v**2
    return math.sqrt(total[-1] + 0.5)


@program(np.array([0.7, 0.3]))
def e_hatfld(EV_):
    t = np.zeros(2)
    t[0] = math.sqrt(EV_[1])
    t[1] = EV_[0] - t[0]
    return t[1] ** 2


@program(np.array([0.7, 0.3, 0.9]))
def e_dixon_price(EV_):
    f = np.zeros(3)
    f[0] = (EV_[0] - 1) ** 2
    for i in range(1, 3):
        f[i] = (i + 1) * (2 * EV_[i] ** 2 - EV_[i - 1]) ** 2
    return f.sum()


@program(np.array([0.7, 0.3]))
def e_himmelblau(EV_):
    r = np.zeros(2)
    r[0] = EV_[0] * EV_[0] + EV_[1] - 11.0
    r[1] = EV_[0] + EV_[1] * EV_[1] - 7.0
    return np.dot(r, r)


@program(np.array([0.7, 0.3, 0.2, 0.5]))
def e_trapezoid_state(EV_):
    """A step of a collocation of x' = f(x, u)."""
    f = np.zeros(2)
    f[0] = -(EV_[0] ** 2) + EV_[1]
    f[1] = -(EV_[2] ** 2) + EV_[3]
    return (EV_[2] - EV_[0] - 0.05 * (f[0] + f[1])) ** 2


@program(np.array([0.7, 0.3, 0.2]))
def e_spherical_bound(EV_):
    rad = np.full(3, -1.0)
    for k, v in enumerate(EV_):
        rad[k] += v * v
    return rad.max() * rad.min()


@program(np.array([0.7, 0.3, 0.2]))
def e_hessian_by_entry(EV_):
    """A quadratic form of a matrix that is set entry by entry."""
    H_ = np.zeros((3, 3))
    H_[0, 0] = 2.0
    H_[0, 1] = H_[1, 0] = EV_[2]
    H_[2, 2] = EV_[0] + EV_[1]
    return EV_ @ H_ @ EV_


@program(np.array([0.7, 0.3, 0.2]))
def e_gradient_by_entry(EV_):
    """Somebody's gradient, of which the sum of squares is taken."""
    g_ = np.zeros(3)
    g_[0] = EV_[1] * EV_[2]
    g_[1] = EV_[0] * EV_[2]
    g_[2] = EV_[0] * EV_[1]
    g_ *= 2.0
    return g_.dot(g_)
