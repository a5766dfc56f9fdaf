#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/daemon/session.hpp"
#include "torchwatch/records/vocabulary.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::daemon {

/// What a person (or POST /api/v1/bisections) asks for: a range, or a commit that is suspected, or
/// both; the series, or none to screen the suite between the ends first.
struct SearchRequest {
  std::string good;
  std::string bad;
  std::string suspect;
  std::vector<std::string> workloads;
  std::optional<Device> device;
  std::optional<Mode> mode;
  std::optional<Metric> metric;
};

Result<SearchRequest> parse_search_request(const std::string& json);
std::string to_json(const SearchRequest&);

/// Carries the request out to the end of its search. With a suspect: first that commit against its
/// parent; only if that does not reproduce and ends are given, the range.
/// Errors: invalid and not_found (the commits, the series), unavailable, cancelled.
Result<storage::BisectionRow> search_on_demand(Session&, const SearchRequest&,
                                               std::stop_token stop);

}  // namespace torchwatch::daemon
