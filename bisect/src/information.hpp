#pragma once

namespace torchwatch::bisect {

/// What a certain answer to a yes-no question tells, in bits, that is "yes" with that probability.
/// No noisy answer tells more.
double entropy(double probability);

/// What a noisy answer to a yes-no question tells, in bits: the mutual information of a question
/// answered "yes" with probability `probability` and a normal reading whose mean differs by
/// `separation` standard deviations between yes and no.
double information(double probability, double separation);

}  // namespace torchwatch::bisect
