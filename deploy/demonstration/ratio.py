"""The mean of ratios of times, with its interval."""

import math
import statistics

# Two-sided 99 % quantiles of Student's t for 1, 2, ... degrees of freedom.
_STUDENT_T_99 = [
    63.657,
    9.925,
    5.841,
    4.604,
    4.032,
    3.707,
    3.499,
    3.355,
    3.250,
    3.169,
    3.106,
    3.055,
    3.012,
    2.977,
    2.947,
    2.921,
    2.898,
    2.878,
    2.861,
    2.845,
    2.831,
    2.819,
    2.807,
    2.797,
    2.787,
    2.779,
    2.771,
    2.763,
    2.756,
    2.750,
]


def student_t_99(degrees: int) -> float:
    """Two-sided 99 % quantile of Student's t; beyond the table by Cornish-Fisher's expansion, which
    is exact to the table's digits there."""
    if degrees <= len(_STUDENT_T_99):
        return _STUDENT_T_99[degrees - 1]
    z = 2.5758293
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / degrees + second / degrees**2 + third / degrees**3


def mean_ratio(ratios: list[float]) -> list[float]:
    """Geometric mean of ratios, low and high end of its 99 % interval; of one ratio all three are
    the same."""
    logs = [math.log(ratio) for ratio in ratios]
    half = 0.0
    if len(logs) > 1:
        half = student_t_99(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return [math.exp(statistics.fmean(logs) + part) for part in (0, -half, half)]
