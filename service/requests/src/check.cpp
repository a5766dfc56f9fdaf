#include "torchwatch/requests/check.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "torchwatch/builds/tree.hpp"
#include "torchwatch/channel/channel.hpp"
#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/documents/study.hpp"
#include "torchwatch/documents/vocabulary_json.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "torchwatch/requests/bisection_request.hpp"
#include "torchwatch/source/clone.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::requests {
namespace {

namespace fs = std::filesystem;
using bisect::CommitHistory;

Status invalid(std::string message, std::string remedy = {}) {
  return fail(ErrorCode::invalid, std::move(message), std::move(remedy));
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// The names in the channel's folder; none where the channel is an index, which takes the network.
std::vector<std::string> listed(const config::Config& config) {
  if (config.channel.kind != config::ChannelKind::directory) return {};
  const auto offers = channel::make_directory_channel(config.channel.path)->list({});
  return channel::names_of(offers.value_or(std::vector<channel::Offer>{}));
}

/// Whether the text may name a nightly of an index, which is asked when the request's turn comes.
bool may_be_nightly(const config::Config& config, const std::string& text) {
  return config.channel.kind != config::ChannelKind::directory && is_nightly_version(text);
}

Result<CommitHistory> history_of(const config::Config& config) {
  if (config.source.repository.empty()) {
    return fail(
        ErrorCode::invalid,
        "commits cannot be searched or built: set [source] repository in the configuration");
  }
  if (config.build.recipe.empty()) {
    return fail(ErrorCode::invalid,
                "commits cannot be built: set [build] recipe in the configuration");
  }
  return CommitHistory::open(repository_folder(config));
}

/// Whether the text may name a commit that is fetched when the request's turn comes.
bool may_be_fetched(const config::Config& config, const std::string& text) {
  return is_cloned(config) && source::is_commit_name(text);
}

/// Whether the text names a commit that can be built for who asks.
bool is_buildable_commit(const config::Config& config, const std::string& text) {
  const auto history = history_of(config);
  return history && (history->resolve(text) || may_be_fetched(config, text));
}

Status check_known_build(const Ground& ground, const std::string& text,
                         const std::vector<std::string>& published) {
  if (ground.database != nullptr) {
    TW_TRY(const auto known, known_build(*ground.database, text));
    if (known) return {};
  }
  if (is_buildable_commit(ground.config, text)) return {};
  const auto missing = ground.database == nullptr
                           ? unknown_build(text, Asking::from_this_machine, published)
                           : missing_build(*ground.database, text, published);
  return fail(missing.as(ErrorCode::invalid));
}

Status check_build(const Ground& ground, const std::string& text, Asking asking) {
  std::error_code ignored;
  const bool is_here = asking == Asking::from_this_machine;
  if (is_here && fs::is_directory(text, ignored)) {
    const auto checked = builds::check_tree(text);
    return checked ? Status{} : Status{fail(checked.error().as(ErrorCode::invalid))};
  }
  const auto published = listed(ground.config);
  if (is_among(published, text) || is_release(text)) return {};
  if (may_be_nightly(ground.config, text)) return {};
  if (is_here) return check_known_build(ground, text, published);
  return fail(unknown_build(text, asking, published).as(ErrorCode::invalid));
}

Status check_builds(const Ground& ground, const nlohmann::json& body, Asking asking) {
  for (const auto* member : {"baseline", "candidate"}) {
    if (!body.contains(member)) continue;
    TW_TRY_VOID(check_build(ground, body.at(member).get<std::string>(), asking));
  }
  return {};
}

Status check_workloads(const Ground& ground, const std::vector<std::string>& asked) {
  for (const auto& name : asked) {
    if (is_among(ground.workloads, name)) continue;
    return invalid(
        "there is no workload " + quoted(name),
        did_you_mean(name, ground.workloads) + "`torchwatch workload list` has their names");
  }
  return {};
}

/// A study compares a build with itself. The workloads that its settings name are in the suite.
Status check_study(const Ground& ground, const nlohmann::json& body) {
  TW_TRY(const auto study, comparison::parse_study(body));
  if (!study) return {};
  const auto build = [&body](const char* member) { return body.value(member, std::string()); };
  if (build("baseline").empty() || build("baseline") != build("candidate")) {
    return invalid(
        "two settings are compared on one build: baseline and candidate must be the same");
  }
  TW_TRY(const auto sides, comparison::parse_sides(study->baseline, study->candidate));
  return check_workloads(ground, comparison::with_alternatives(sides, {}));
}

/// The commit that a nightly of that name was built from; empty where the nightly is not known, and
/// where its commit is not known yet.
Result<std::string> commit_of_nightly(const Ground& ground, const std::string& name) {
  if (ground.database == nullptr) return std::string();
  TW_TRY(const auto rows, storage::BuildStore(*ground.database).list());
  const auto named = std::ranges::find_if(rows, [&](const storage::BuildRow& row) {
    return row.name == name && row.origin == storage::BuildOrigin::nightly &&
           !row.trunk_commit.empty();
  });
  return named == rows.end() ? std::string() : named->trunk_commit;
}

/// Returns the commit that is meant; nothing for a nightly that is published and not looked at yet,
/// and for a commit that has yet to be fetched.
Result<std::optional<std::string>> commit_meant(const Ground& ground, const CommitHistory& history,
                                                const std::string& text) {
  TW_TRY(auto commit, commit_of_nightly(ground, text));
  if (!commit.empty()) return std::optional(std::move(commit));
  auto found = history.trunk_commit(text);
  if (found) return std::optional(*std::move(found));
  const auto published = listed(ground.config);
  if (is_among(published, text) || may_be_fetched(ground.config, text)) return std::nullopt;
  if (found.error().code == ErrorCode::invalid) return fail(found.error());
  return fail(ErrorCode::invalid,
              "unknown commit " + quoted(text) + ": [source] repository " +
                  ground.config.source.repository +
                  " has no such revision, and no nightly has that name",
              did_you_mean(text, published) + "`torchwatch build list` has their names");
}

Status check_range(const CommitHistory& history, const std::string& branch, const std::string& good,
                   const std::string& bad) {
  if (good == bad) {
    return invalid("nothing to search: good and bad are the same commit, " + short_sha(good));
  }
  const auto first = history.position(good, branch);
  const auto last = history.position(bad, branch);
  if (!first || !last || *first < *last) return {};
  return invalid("the good commit " + short_sha(good) + " is newer than the bad one " +
                 short_sha(bad) + ": swap the two");
}

Status check_commits(const Ground& ground, const requests::BisectionRequest& request,
                     Asking asking) {
  TW_TRY(const auto history, history_of(ground.config));
  const auto& branch = ground.config.source.branch;
  std::array<std::optional<std::string>, 3> meant;
  const std::array texts{&request.suspect, &request.good, &request.bad};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i]->empty()) continue;
    TW_TRY(meant[i], commit_meant(ground, history, *texts[i]));
    const bool may_be_anywhere = asking == Asking::from_this_machine || !meant[i];
    if (may_be_anywhere || history.position(*meant[i], branch)) continue;
    return invalid("commit " + quoted(*texts[i]) + " is not on branch " + branch +
                   ": only its commits are built for a request");
  }
  return meant[1] && meant[2] ? check_range(history, branch, *meant[1], *meant[2]) : Status{};
}

bool has_metric(Device device, Metric metric) {
  const auto& judged = judged_metrics_of(device);
  return std::ranges::find(judged, metric) != judged.end();
}

/// The devices that are asked for; all that the machine has where nothing is said.
std::vector<Device> devices(const Ground& ground, const std::vector<Configuration>& asked) {
  std::vector<Device> devices;
  for (const auto& each : asked) devices.push_back(each.device);
  if (!asked.empty()) return devices;
  return ground.has_gpu ? std::vector{Device::cpu, Device::cuda} : std::vector{Device::cpu};
}

Status check_metrics(const Ground& ground, const comparison::Selection& asked) {
  const auto measured_on = devices(ground, asked.configurations);
  for (const auto metric : asked.metrics) {
    const bool is_measured = std::ranges::any_of(
        measured_on, [&](const auto device) { return has_metric(device, metric); });
    if (is_measured) continue;
    const bool is_of_gpu = has_metric(Device::cuda, metric);
    return invalid("metric " + std::string(to_string(metric)) + " is measured on " +
                   (is_of_gpu ? "cuda" : "cpu") + " only" +
                   (is_of_gpu && !ground.has_gpu ? ", and this machine has no GPU" : ""));
  }
  return {};
}

/// In which a selection is measured on this machine.
std::vector<Configuration> configurations(const Ground& ground, const config::Config& config) {
  if (!config.suite.configurations.empty()) return config.suite.configurations;
  std::vector<Configuration> all;
  for (const auto device : devices(ground, {})) {
    for (const auto mode : {Mode::train, Mode::infer}) all.push_back({device, mode});
  }
  return all;
}

bool states(const comparison::Plan& plan, Metric metric) {
  return std::ranges::any_of(plan.benchmarks, [&](const Benchmark& benchmark) {
    const auto stated = comparison::metrics_of(plan, benchmark, pass_of(metric));
    return std::ranges::find(stated, metric) != stated.end();
  });
}

/// What is asked for beside an operator that none has.
Status check_operators(const Ground& ground, const comparison::Selection& asked) {
  const auto is_operator = [](const Variant& each) { return !each.operator_name.empty(); };
  if (std::ranges::none_of(asked.variants, is_operator)) return {};
  const auto refuse = [](const std::string& what) {
    return invalid("an operator has no " + what,
                   "operator=NAME is a time on a CPU, in the suite's own workloads");
  };
  for (const auto metric : asked.metrics) {
    if (metric != Metric::time) return refuse(std::string(to_string(metric)));
  }
  for (const auto& each : asked.configurations) {
    if (each.device != Device::cpu) return refuse("configuration " + to_string(each));
  }
  for (const auto& workload : asked.workloads) {
    const bool is_external = comparison::external_workload(ground.config, workload) != nullptr;
    if (is_external) return refuse("part in the external workload \"" + workload + "\"");
  }
  return {};
}

}  // namespace

Status check_measured(const Ground& ground, const comparison::Selection& asked) {
  const auto config = comparison::narrowed(ground.config, asked);
  const auto& workloads = config.suite.workloads;
  if (workloads.empty()) return {};  // of all of the suite some have what is asked for
  auto plan = comparison::make_plan(config, workloads, configurations(ground, config));
  TW_TRY_VOID(comparison::check_benchmarks(plan));
  plan.outputs = true;
  const auto is_stated = [&](Metric metric) { return states(plan, metric); };
  if (asked.metrics.empty() || std::ranges::any_of(asked.metrics, is_stated)) return {};
  return invalid(
      "no workload that is measured states " + std::string(to_string(asked.metrics.front())),
      "`metrics` of a [[suite.external]] names what that states");
}

Status check_selection(const Ground& ground, const comparison::Selection& asked) {
  TW_TRY_VOID(check_workloads(ground, asked.workloads));
  for (const auto& each : asked.configurations) {
    if (each.device == Device::cpu || ground.has_gpu) continue;
    return invalid("configuration " + to_string(each) +
                   " cannot be measured: this machine has no GPU");
  }
  TW_TRY_VOID(check_operators(ground, asked));
  return check_metrics(ground, asked);
}

Status check(const Ground& ground, storage::RequestKind kind, const nlohmann::json& body,
             Asking asking) {
  if (kind == storage::RequestKind::bisection) {
    TW_TRY(const auto request, requests::parse_bisection_request(stored_text(body)));
    TW_TRY_VOID(check_selection(ground, request.selection));
    TW_TRY_VOID(requests::named_series(ground.config, request));
    return check_commits(ground, request, asking);
  }
  if (kind == storage::RequestKind::fetch) {
    return check_build(ground, body.at("name").get<std::string>(), asking);
  }
  TW_TRY(const auto selection, comparison::parse_selection(body));
  TW_TRY_VOID(check_selection(ground, selection));
  TW_TRY_VOID(check_measured(ground, selection));
  TW_TRY_VOID(check_study(ground, body));
  return check_builds(ground, body, asking);
}

bool has_gpu(const fs::path& root) {
  constexpr std::array kSigns{"proc/driver/nvidia/version", "dev/nvidiactl", "dev/dxg"};
  return std::ranges::any_of(kSigns, [&](const char* sign) {
    std::error_code ignored;
    return fs::exists(root / sign, ignored);
  });
}

}  // namespace torchwatch::requests
