#include "torchwatch/requests/wording.hpp"

#include <nlohmann/json.hpp>

#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::requests {
namespace {

using nlohmann::json;

/// A commit as people write it: its first digits, however many were typed; a name as it is.
std::string short_name(const std::string& text) {
  return is_hex(text, 1, 64) ? short_sha(text) : text;
}

/// "2026-08-17: threads=2 against threads=1".
std::string study_of(const json& body) {
  const auto& settings = body.at("settings");
  return short_name(body.value("candidate", std::string())) + ": " +
         settings.value("candidate", std::string()) + " against " +
         settings.value("baseline", std::string());
}

/// What a request is about: two builds, commits, or whatever is due.
std::string subject_of(const json& body) {
  const auto name = [&](const char* member) {
    return short_name(body.value(member, std::string()));
  };
  if (body.contains("name")) return name("name");
  if (body.contains("pull")) {
    const auto head = body.contains("head") ? ", its commit " + name("head") : std::string();
    return "pull request " + body.at("pull").dump() + head;
  }
  if (body.contains("passes")) return name("candidate") + " alone";
  if (body.contains("settings")) return study_of(body);
  if (body.contains("candidate")) return name("candidate") + " against " + name("baseline");
  const auto range = body.contains("good") ? name("good") + " to " + name("bad") : std::string();
  if (!body.contains("suspect")) return range.empty() ? "every nightly that is due" : range;
  return name("suspect") + " against its parent" + (range.empty() ? "" : ", then " + range);
}

}  // namespace

std::string asked_text(const storage::RequestRow& row) {
  const auto body = report::embedded(row.body_json);
  if (!body.is_object()) return "";
  auto text = subject_of(body);
  for (const auto* member : {"workloads", "configurations", "variants", "metrics"}) {
    for (const auto& each : body.value(member, json::array())) {
      text += ", " + each.get<std::string>();
    }
  }
  for (const auto* member : {"device", "mode", "variant", "metric", "preset"}) {
    if (body.contains(member)) text += ", " + body.at(member).get<std::string>();
  }
  return body.value("now", false) ? text + ", now" : text;
}

std::string result_text(const storage::RequestRow& row) {
  const auto result = report::embedded(row.result_json);
  if (!result.is_object()) return "";
  for (const auto* member : {"error", "note"}) {
    if (result.contains(member)) return result.at(member).get<std::string>();
  }
  for (const auto* member : {"comparison", "bisection", "build"}) {
    if (result.contains(member)) return member + (" " + result.at(member).dump());
  }
  return "";
}

}  // namespace torchwatch::requests
