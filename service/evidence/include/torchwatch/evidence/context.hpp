#pragma once

#include <functional>
#include <string>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::evidence {

/// Where drawings lead. What is empty leads nowhere.
struct Links {
  std::function<std::string(const Series&)> series = {};
  std::function<std::string(storage::Id)> comparison = {};
  std::function<std::string(storage::Id)> incident = {};
  std::function<std::string(const std::string& sha)> commit = {};
};

/// What evidence is read from, and for whom. What it refers to must outlive it.
struct Context {
  storage::Database& database;
  bool is_trusted = false;        ///< may see folders of this machine
  double confidence = 0.99;       ///< of the intervals of comparisons that do not state theirs
  double threshold = 1.07;        ///< drawn where there are ratios
  double exact_threshold = 1.02;  ///< where all runs of each build state the same bytes
  /// Returns the ratio from which on a change of a series counts, in place of these two; empty:
  /// they hold for all.
  std::function<double(const Series&, bool is_exact)> threshold_of = {};
  Links links = {};
};

/// Returns a build's name for the reader: "a folder" for one of this machine that a stranger asks
/// for, the short sha of a commit.
std::string name_of(const storage::BuildRow&, const Context&);

}  // namespace torchwatch::evidence
