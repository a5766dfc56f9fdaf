#include <algorithm>

#include "handlers.hpp"
#include "openapi.hpp"
#include "torchwatch/http/paging.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::api {

using nlohmann::json;

Result<Reply> get_self_tests(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto tallies, storage::ComparisonStore(backend.database).self_tests());
  json by_metric = json::array();
  for (const auto& tally : tallies) {
    by_metric.push_back(report::json_of(tally));
    by_metric.back()["metric"] = to_string(tally.metric);
  }
  return http::object_reply(
      {{"self_tests", std::move(by_metric)}, {"all", report::json_of(storage::sum_of(tallies))}});
}

Result<Reply> get_description(const Request& request, const Backend&) {
  TW_TRY_VOID(http::refuse_parameters(request));
  return Reply{.status = 200,
               .content_type = "application/json",
               .body = std::string(kDescription),
               .headers = {}};
}

namespace {

json health(std::string_view status, const Backend& backend) {
  json body{{"status", status}};
  if (!backend.warnings.empty()) body["warnings"] = backend.warnings;
  return body;
}

}  // namespace

Result<Reply> get_health(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  const auto problems = backend.problems ? backend.problems() : std::vector<Problem>{};
  if (problems.empty()) return http::object_reply(health("ok", backend));
  json listed = json::array();
  for (const auto& problem : problems) {
    listed.push_back({{"source", problem.source},
                      {"item", report::text_or_null(problem.item)},
                      {"since", report::time_of(problem.since)},
                      {"detail", problem.sentence}});
  }
  // An item that waits keeps nothing else from being done: a probe must not end the service for it.
  const bool is_failing =
      std::ranges::any_of(problems, [](const Problem& problem) { return problem.item.empty(); });
  auto body = health(is_failing ? "failing" : "degraded", backend);
  body["problems"] = std::move(listed);
  auto reply = http::object_reply(std::move(body));
  if (is_failing) reply.status = 503;
  return reply;
}

}  // namespace torchwatch::api
