#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/evidence/noise.hpp"
#include "torchwatch/health/report.hpp"
#include "torchwatch/http/router.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/build_files.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/report/trunk_range.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/traces/self_times.hpp"

namespace torchwatch::pages {

/// What the pages show and link. What it refers to must outlive the routes; its functions are
/// called from several threads.
struct Sources {
  storage::Database& database;
  const platform::Clock& clock;
  /// What does not work and what is done at present.
  std::function<health::Report()> service_now = {};
  /// Returns what is known of a commit, as triage::commit_facts does: of one that is not known its
  /// sha alone. Empty: pages name commits by their shas.
  std::function<report::CommitFacts(const std::string& sha)> commit_of = {};
  /// Returns the last lines that the recipe printed for a commit, without paths; none where nothing
  /// is kept. Empty: pages show none.
  std::function<std::vector<std::string>(const std::string& sha)> build_log_of = {};
  report::CountCommits count_commits = {};  ///< empty: pages count none
  /// Follows a bisection, as bisection::replay_of does; empty: pages show no steps.
  std::function<report::SearchReplay(const storage::BisectionRow&)> replay_of = {};
  /// Lists a bisection's range, as bisection::SearchedRanges does; empty: pages list what was
  /// tried.
  std::function<report::SearchedRange(const storage::BisectionRow&)> range_of = {};
  /// Returns the suite's workloads, as api::Backend::suite does; empty: pages name no domains.
  std::function<Result<nlohmann::json>()> suite = {};
  /// Returns the noise of a series, as evidence::read_noise does; empty: pages say nothing of it.
  std::function<Result<std::optional<evidence::Noise>>(const Series&)> noise_of = {};
  /// Returns the files of a build; empty: pages say nothing of them. Must not block.
  report::AskForFiles files_of = {};
  /// Returns what was left to say to who is signed in on the page that is asked for, once; empty:
  /// nobody leaves anything.
  std::function<std::string(const http::Request&)> take_note = {};
  std::string commits_address = {};   ///< where commits are linked; empty: they are not
  std::string issues_address = {};    ///< where issues are linked; empty: they are not
  std::filesystem::path traces = {};  ///< the folder of traces; empty: there are none
  /// Adds traces up by operator; remembers what it has read.
  std::shared_ptr<traces::SelfTimeReader> self_times = std::make_shared<traces::SelfTimeReader>();
  std::string perfetto = {};      ///< where a trace may be handed to; empty: nowhere
  std::string assets = {};        ///< the script's folder: "assets/5d1c/"; empty: no script
  double confidence = 0.99;       ///< of the intervals of comparisons
  double threshold = 1.07;        ///< the ratio that must be found
  double exact_threshold = 1.02;  ///< the same where all runs of each build state the same bytes
  /// Returns the same of a series; empty: they hold for all.
  std::function<double(const Series&, bool is_exact)> threshold_of = {};
  double gate = 1.06;                   ///< the ratio that a confirmed estimate reaches
  double false_incidents_per_year = 1;  ///< the error budget
  /// How long no nightly may come before an alarm is raised; 0: it is never.
  std::chrono::seconds no_nightly_alarm{0};
  std::int64_t cache_limit_bytes = 0;  ///< of [build] cache; 0: pages say nothing of it
  /// The API's, which some pages and all `.json` twins are made of.
  std::vector<http::Route> api = {};
};

}  // namespace torchwatch::pages
