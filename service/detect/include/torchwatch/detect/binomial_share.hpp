#pragma once

namespace torchwatch::detect {

/// How often something happened of so many times, as a share with the exact 95 % interval of
/// Clopper and Pearson.
struct Share {
  long hits = 0;
  long of = 0;
  double rate = 0;  ///< hits / of; 0 of none
  double low = 0;
  double high = 1;
  double bound = 1;  ///< the rate lies below it with 95 %, one-sided: 3 / of when nothing happened
};

/// Of none the interval is the whole range. `hits` must be from 0 to `of`.
Share share_of(long hits, long of);

}  // namespace torchwatch::detect
