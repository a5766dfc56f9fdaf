#pragma once

namespace torchwatch::detect {

/// A proportion with the exact 95 % interval of Clopper and Pearson.
struct Share {
  long hits = 0;
  long of = 0;      ///< trials
  double rate = 0;  ///< hits / of; 0 without trials
  double low = 0;
  double high = 1;
  double bound = 1;  ///< one-sided 95 % upper bound of the rate; about 3 / of without hits
};

/// Returns the share of `hits` among `of` trials. Without trials the interval is the whole range.
/// `hits` must be from 0 to `of`.
Share share_of(long hits, long of);

}  // namespace torchwatch::detect
