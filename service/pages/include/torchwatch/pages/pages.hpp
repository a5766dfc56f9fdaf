#pragma once

#include <functional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/health/report.hpp"
#include "torchwatch/http/router.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::pages {

/// What the pages show and link. What it refers to must outlive the routes; its functions are
/// called from several threads.
struct Sources {
  storage::Database& database;
  const platform::Clock& clock;
  /// What does not work and what is done at present.
  std::function<health::Report()> service_now = {};
  /// Returns a commit's subject; empty where it is not known.
  std::function<std::string(const std::string& sha)> subject_of = {};
  std::string commits_address = {};  ///< where commits are linked; empty: they are not
  std::string issues_address = {};   ///< where issues are linked; empty: they are not
  double confidence = 0.99;          ///< of the intervals of comparisons
};

/// The routes of the pages for people: the overview (`/`), at most two seconds old, the lists and
/// pages of incidents and comparisons, the page of a build, and the style sheet. Handlers are
/// thread-safe.
std::vector<http::Route> routes(Sources);

}  // namespace torchwatch::pages
