#pragma once

#include "evidence.hpp"

namespace torchwatch::bisect {

/// A rule by which a direct comparison of two builds counts: far enough from nothing in standard
/// errors, and large enough. It is looked at after every batch of pairs.
struct Gate {
  double floor = 0;         ///< smallest change that counts
  double build_spread = 0;  ///< of two builds of like code, which counts as an error that stays
  double errors_over = 0;   ///< standard errors above zero that show a change
  double errors_under = 0;  ///< standard errors below the floor that rule one out
  int pairs_min = 0;
  int pairs_max = 0;  ///< what is still open then counts as nothing
};

/// The ends differ: a whole search rests on it.
Gate ends_gate(const Evidence&);

/// The culprit differs from its parent by a good part of the change that is searched.
Gate culprit_gate(const Evidence&, double change, int verify_pairs);

/// A span beside a found culprit holds a change of minimum_effect or more as well.
Gate rest_gate(const Evidence&);

/// What the pairs measured so far say of an effect: more are needed, it shows, or it is nothing.
enum class EffectState { open, shows, nothing };
EffectState judge(const Estimate&, const Gate&);

/// Whether an effect counts as nothing only because no more pairs may be spent: they neither show
/// it nor rule it out.
bool is_left_open(const Estimate&, const Gate&);

/// Returns the number of pairs to measure next while the effect is open.
int next_pairs(const Estimate&, const Gate&);

}  // namespace torchwatch::bisect
