#include "torchwatch/detect/binomial_interval.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <cassert>

namespace torchwatch::detect {

Share share_of(long hits, long of) {
  assert(hits >= 0 && hits <= of);
  Share share{hits, of};
  if (of == 0) return share;
  using boost::math::binomial;
  const auto trials = static_cast<double>(of);
  const auto successes = static_cast<double>(hits);
  share.rate = successes / trials;
  share.low = binomial::find_lower_bound_on_p(trials, successes, 0.025);
  share.high = binomial::find_upper_bound_on_p(trials, successes, 0.025);
  share.bound = binomial::find_upper_bound_on_p(trials, successes, 0.05);
  return share;
}

}  // namespace torchwatch::detect
