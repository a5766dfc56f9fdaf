#include "torchwatch/health/report.hpp"

#include <algorithm>
#include <array>

#include "torchwatch/report/view.hpp"

namespace torchwatch::health {
namespace {

using nlohmann::json;

json doing_json(const Doing& doing) {
  return {{"what", report::text_or_null(doing.what)},
          {"comparison", doing.comparison ? json(*doing.comparison) : json(nullptr)},
          {"since", report::time_of(doing.since)}};
}

std::string status_of(const std::vector<Problem>& problems) {
  if (problems.empty()) return "ok";
  return is_failing(problems) ? "failing" : "degraded";
}

std::string text_member(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

storage::WallMillis time_member(const json& object, const char* name) {
  return platform::parse_iso_utc(text_member(object, name)).value_or(0);
}

Problem parse_problem(const json& object) {
  auto detail = text_member(object, "detail");
  return {.source = text_member(object, "source"),
          .item = text_member(object, "item"),
          .since = time_member(object, "since"),
          .sentence = detail,
          .detail = detail};
}

Doing parse_doing(const json& object) {
  Doing doing{.what = text_member(object, "what"), .since = time_member(object, "since")};
  const auto comparison = object.find("comparison");
  const bool is_known = comparison != object.end() && comparison->is_number_integer();
  if (is_known) doing.comparison = comparison->get<storage::Id>();
  return doing;
}

}  // namespace

bool is_failing(const std::vector<Problem>& problems) {
  // Nightlies are compared while these last.
  const std::array beside{std::string(to_string(storage::ItemKind::source)),
                          std::string("conversation"), std::string("notices"),
                          std::string("nodes")};
  return std::ranges::any_of(problems, [&](const Problem& each) {
    return each.item.empty() && std::ranges::find(beside, each.source) == beside.end();
  });
}

json to_json(const std::vector<Problem>& problems, bool is_trusted) {
  auto listed = json::array();
  for (const auto& problem : problems) {
    listed.push_back({{"source", problem.source},
                      {"item", report::text_or_null(problem.item)},
                      {"since", report::time_of(problem.since)},
                      {"detail", text_of(problem, is_trusted)}});
  }
  return listed;
}

json to_json(const Report& report, bool is_trusted) {
  json body{{"status", status_of(report.problems)}};
  if (!report.warnings.empty()) body["warnings"] = report.warnings;
  if (!report.problems.empty()) body["problems"] = to_json(report.problems, is_trusted);
  const bool is_busy = report.doing.since != 0;
  if (!is_trusted) return body;
  if (is_busy) body["doing"] = doing_json(report.doing);
  if (!report.version.empty()) body["version"] = report.version;
  if (report.free_cache_bytes) body["free_cache_bytes"] = *report.free_cache_bytes;
  return body;
}

Result<Report> parse_report(const json& body) {
  if (!body.is_object() || !body.contains("status")) {
    return fail(ErrorCode::corrupt, "the daemon did not say how it is");
  }
  Report report;
  for (const auto& each : body.value("problems", json::array())) {
    if (each.is_object()) report.problems.push_back(parse_problem(each));
  }
  for (const auto& each : body.value("warnings", json::array())) {
    if (each.is_string()) report.warnings.push_back(each.get<std::string>());
  }
  const auto doing = body.find("doing");
  if (doing != body.end() && doing->is_object()) report.doing = parse_doing(*doing);
  return report;
}

}  // namespace torchwatch::health
