#include "search_steps.hpp"

#include <algorithm>

#include "robust.hpp"
#include "torchwatch/doors/failpoint.hpp"

namespace torchwatch::nightly {
namespace {

/// After this many faults of the recipe in a row the surroundings are broken, not the commits.
constexpr int kFaultsInARowMax = 3;

bisect::SearchSettings settings_of(const SearchOrder& order) {
  bisect::SearchSettings settings;
  settings.confidence = order.confidence;
  settings.builds_max = order.builds_max;
  settings.runs_max = order.runs_max;
  return settings;
}

/// Two builds of like code differ by themselves in where things lie; without an allowance for it
/// the search blames 2 to 5 % wrongly where they do by 1 % (tests/benchmarks/README.md).
constexpr double kBuildSpread = 0.003;

std::vector<bisect::SearchTarget> targets_of(const SearchOrder& order) {
  std::vector<bisect::SearchTarget> targets;
  for (const auto& searched : order.targets) {
    bisect::SearchTarget target;
    target.noise_sd = searched.noise_sd;
    target.minimum_effect = searched.minimum_effect;
    target.build_sd = is_relative(searched.target.metric) ? kBuildSpread : 0;
    targets.push_back(target);
  }
  return targets;
}

/// The change counts as gone when at least half of each effect that the culprit shows is.
void judge_revert(const bisect::Culprit& culprit, const PairReadings& measured,
                  RevertCheck& check) {
  check.gone = !measured.effects.empty();
  for (const auto& effect : culprit.effects) {
    const auto found = measured.effects.find(effect.target);
    if (found == measured.effects.end()) continue;
    check.effects[effect.target] = median(found->second);
    check.gone = check.gone && check.effects[effect.target] >= effect.effect / 2;
  }
}

std::string short_sha(const std::string& sha) {
  return sha.substr(0, 12);
}

}  // namespace

SearchSteps::SearchSteps(Workshop& workshop, const storage::BisectionRow& row,
                         const SearchOrder& order)
    : workshop_(workshop),
      row_(row),
      order_(order),
      log_(workshop.database, row.id),
      measuring_(workshop, storage::Owner{storage::OwnerKind::bisection, row.id}, order),
      subjects_(workshop, workloads_of(order.plan)) {}

Status SearchSteps::prepare() {
  if (workshop_.history == nullptr) {
    return fail(ErrorCode::invalid,
                "commits cannot be searched: set [source] repository in the configuration");
  }
  if (workshop_.commits == nullptr) {
    return fail(ErrorCode::invalid,
                "commits cannot be built: set [build] recipe in the configuration");
  }
  TW_TRY(range_, workshop_.history->range(order_.good, order_.bad));
  const auto& patterns =
      order_.cannot_change.empty() ? bisect::default_cannot_change() : order_.cannot_change;
  TW_TRY(const auto cannot_change, bisect::PathPatterns::create(patterns));
  folded_ = bisect::fold(range_, cannot_change);
  TW_TRY(search_, bisect::CulpritSearch::create(settings_of(order_), targets_of(order_),
                                                folded_.classes.size()));
  TW_TRY_VOID(log_.load());
  for (const auto& event : log_.events()) TW_TRY_VOID(search_->apply(event));
  return measuring_.load_past_runs();
}

Status SearchSteps::take_one(std::stop_token stop) {
  const auto action = search_->next();
  if (const auto* measure_this = std::get_if<bisect::Measure>(&action)) {
    return measure(*measure_this, stop);
  }
  return answer(std::get<bisect::Answer>(action), stop);
}

Status SearchSteps::measure(const bisect::Measure& wanted, std::stop_token stop) {
  // A new build may tell that there is nothing to measure, so it is a step of its own: the search
  // is asked again afterwards, and finds what is built.
  const auto missing = builds_for(wanted);
  if (!missing.empty()) return build(missing, stop);
  return wanted.alone ? measure_alone(wanted, stop) : measure_pairs(wanted, stop);
}

std::vector<bisect::Reference> SearchSteps::builds_for(const bisect::Measure& wanted) const {
  const auto builders = static_cast<std::size_t>(workshop_.config.build.builders);
  std::vector<bisect::Reference> missing;
  for (const auto candidate : search_->next_builds(builders)) missing.emplace_back(candidate);
  if (!missing.empty()) return missing;
  // What the search takes for built: the ends, and after a resumption whatever is in the log.
  for (const auto& side : {wanted.reference, bisect::Reference{wanted.candidate}}) {
    if (!built_.contains(side) && missing.size() < builders) missing.push_back(side);
  }
  return missing;
}

Status SearchSteps::build(const std::vector<bisect::Reference>& sides, std::stop_token stop) {
  if (sides.size() > 1) TW_TRY_VOID(build_at_once(sides, stop));
  for (const auto& side : sides) {
    TW_TRY_VOID(subject(side, stop));
    if (is_over()) return {};
  }
  return note_equal_libraries();
}

Status SearchSteps::build_at_once(const std::vector<bisect::Reference>& sides,
                                  std::stop_token stop) {
  std::vector<std::string> commits;
  std::string names;
  for (const auto& side : sides) {
    commits.push_back(sha_of(side));
    names += (names.empty() ? "" : ", ") + short_sha(commits.back());
  }
  TW_TRY(const auto base, base_of_builds());
  workshop_.progress.began("building commits " + names + " at once");
  TW_TRY_VOID(workshop_.commits->build_at_once(commits, base, stop));
  return {};
}

Result<std::optional<builds::Tree>> SearchSteps::base_of_builds() const {
  if (!built_.empty()) return built_.begin()->second.tree;
  if (order_.base_folder.empty()) return std::optional<builds::Tree>{};
  TW_TRY(auto tree, builds::inspect(order_.base_folder));
  return std::optional<builds::Tree>(std::move(tree));
}

std::string SearchSteps::name_of_next() const {
  return "search/" + std::to_string(log_.next_ordinal());
}

Status SearchSteps::measure_pairs(const bisect::Measure& wanted, std::stop_token stop) {
  workshop_.progress.began(std::string(bisect::to_string(wanted.purpose)) + ": " +
                           short_sha(commit_of(wanted.candidate)) + " against " +
                           short_sha(sha_of(wanted.reference)));
  TW_TRY(auto measured,
         measuring_.measure(name_of_next(), built_.at(wanted.candidate),
                            built_.at(wanted.reference), wanted.targets, wanted.pairs, stop));
  if (const auto* failed = std::get_if<SideFailed>(&measured)) return note_failure(wanted, *failed);

  auto& pairs = std::get<PairReadings>(measured);
  const bisect::Measured event{wanted.candidate, wanted.reference, std::move(pairs.effects),
                               std::move(pairs.references)};
  TW_TRY_VOID(search_->apply(event));
  TW_TRY_VOID(log_.measured(event, wanted.purpose, search_->posterior()));
  return doors::failpoint("nightly.after_bisection_event");
}

Status SearchSteps::measure_alone(const bisect::Measure& wanted, std::stop_token stop) {
  workshop_.progress.began(std::string(bisect::to_string(wanted.purpose)) + ": " +
                           short_sha(commit_of(wanted.candidate)));
  TW_TRY(auto measured,
         measuring_.measure_alone(name_of_next(), built_.at(wanted.candidate),
                                  built_.at(std::nullopt), wanted.targets, wanted.pairs, stop));
  if (const auto* failed = std::get_if<SideFailed>(&measured)) return note_failure(wanted, *failed);
  if (!measuring_.machine_change().empty()) {
    TW_TRY_VOID(search_->apply(bisect::LevelLost{}));
    return log_.level_lost("the environment changed during the search: " +
                           measuring_.machine_change());
  }

  const bisect::MeasuredAlone event{wanted.candidate, std::move(std::get<Readings>(measured))};
  TW_TRY_VOID(search_->apply(event));
  TW_TRY_VOID(log_.measured_alone(event, wanted.purpose, search_->posterior()));
  return doors::failpoint("nightly.after_bisection_event");
}

Result<std::optional<Subject>> SearchSteps::subject(bisect::Reference side, std::stop_token stop) {
  const auto known = built_.find(side);
  if (known != built_.end()) return known->second;
  TW_TRY(const auto base, base_of_builds());
  const auto sha = sha_of(side);
  workshop_.progress.began("building commit " + short_sha(sha));
  TW_TRY(auto built, subjects_.of_commit(sha, base, stop));
  if (const auto* unbuildable = std::get_if<builds::Unbuildable>(&built)) {
    TW_TRY_VOID(note_unbuildable(side, *unbuildable));
    return std::optional<Subject>{};
  }
  const auto& subject = built_.emplace(side, std::get<Subject>(std::move(built))).first->second;
  if (side) TW_TRY_VOID(note_built(*side, subject));
  return std::optional<Subject>{subject};
}

Status SearchSteps::note_built(std::size_t candidate, const Subject& subject) {
  const auto is_this = [&](const bisect::SearchEvent& event) {
    const auto* built = std::get_if<bisect::Built>(&event);
    return built != nullptr && built->candidate == candidate;
  };
  if (std::ranges::any_of(log_.events(), is_this)) return {};
  TW_TRY_VOID(search_->apply(bisect::Built{candidate}));
  return log_.built(candidate, commit_of(candidate), subject.tree.content_hash);
}

Status SearchSteps::note_unbuildable(bisect::Reference side, const builds::Unbuildable& why) {
  workshop_.progress.note("commit " + short_sha(sha_of(side)) + " does not build: " + why.reason);
  const bool is_end = !side || *side + 1 == folded_.classes.size();
  if (is_end) {
    give_up(why.fault ? "faulted" : "nothing_to_search",
            std::string(side ? "the bad" : "the good") + " end, commit " + sha_of(side) +
                ", cannot be built: " + why.reason);
    return {};
  }
  TW_TRY_VOID(search_->apply(bisect::Unbuildable{*side}));
  TW_TRY_VOID(log_.unbuildable(*side, commit_of(*side), why.reason, why.fault));
  if (log_.faults_in_a_row() >= kFaultsInARowMax) {
    give_up("faulted", "the build recipe failed for " + std::to_string(kFaultsInARowMax) +
                           " commits in a row, last with: " + why.reason);
  }
  return {};
}

Status SearchSteps::note_equal_libraries() {
  const auto good = built_.find(std::nullopt);
  if (good == built_.end()) return {};
  std::vector<std::optional<std::string>> hashes(folded_.classes.size());
  for (const auto& [side, subject] : built_) {
    if (side) hashes[*side] = subject.tree.content_hash;
  }
  for (const auto& event : bisect::join_equal(good->second.tree.content_hash, hashes)) {
    const auto is_this = [&](const bisect::SearchEvent& known) {
      const auto* same = std::get_if<bisect::SameLibrary>(&known);
      return same != nullptr && *same == event;
    };
    if (std::ranges::any_of(log_.events(), is_this)) continue;
    TW_TRY_VOID(search_->apply(event));
    TW_TRY_VOID(log_.same_library(event));
  }
  return {};
}

Status SearchSteps::note_failure(const bisect::Measure& wanted, const SideFailed& failed) {
  const bool is_end = wanted.candidate + 1 == folded_.classes.size();
  if (failed.candidate && !is_end) {
    const std::string reason = "cannot run the workload: " + failed.reason;
    TW_TRY_VOID(search_->apply(bisect::Unbuildable{wanted.candidate}));
    return log_.unbuildable(wanted.candidate, commit_of(wanted.candidate), reason, false);
  }
  for (const auto target : failed.targets) {
    TW_TRY_VOID(search_->apply(bisect::TargetLost{target}));
    TW_TRY_VOID(log_.target_lost(target, failed.reason));
  }
  return {};
}

Status SearchSteps::answer(const bisect::Answer& found, std::stop_token stop) {
  if (order_.verify_by_revert) {
    for (const auto& culprit : found.culprits) {
      const bool is_last = culprit.classes.back() + 1 == folded_.classes.size();
      if (culprit.classes.size() != 1 || is_last || revert_of(culprit.classes.front()) != nullptr) {
        continue;
      }
      TW_TRY_VOID(check_revert(culprit.classes.front(), culprit, stop));
    }
  }
  result_ = make_result(found);
  return {};
}

const RevertCheck* SearchSteps::revert_of(std::size_t candidate) const {
  for (const auto& check : log_.reverts()) {
    if (check.culprit == candidate) return &check;
  }
  return nullptr;
}

Status SearchSteps::check_revert(std::size_t candidate, const bisect::Culprit& culprit,
                                 std::stop_token stop) {
  workshop_.progress.began("reverting " + short_sha(commit_of(candidate)) + " on the bad end");
  const auto reverted = workshop_.history->create_revert(commit_of(candidate), order_.bad);
  if (!reverted) {
    RevertCheck check;
    check.culprit = candidate;
    check.reason = reverted.error().message;
    return log_.reverted(check);
  }
  return log_revert(candidate, *reverted, culprit, stop);
}

Status SearchSteps::log_revert(std::size_t candidate, const std::string& reverted,
                               const bisect::Culprit& culprit, std::stop_token stop) {
  RevertCheck check;
  check.culprit = candidate;
  check.applies = true;
  const bisect::Reference bad = folded_.classes.size() - 1;
  TW_TRY(const auto bad_end, subject(bad, stop));
  TW_TRY(const auto built, subjects_.of_commit(reverted, bad_end->tree, stop));
  if (const auto* unbuildable = std::get_if<builds::Unbuildable>(&built)) {
    check.reason = unbuildable->reason;
    return log_.reverted(check);
  }
  check.builds = true;
  std::vector<std::size_t> targets;
  for (const auto& effect : culprit.effects) {
    if (effect.shows) targets.push_back(effect.target);
  }
  TW_TRY(const auto measured, measuring_.measure("revert/" + std::to_string(candidate), *bad_end,
                                                 std::get<Subject>(built), targets,
                                                 bisect::SearchSettings{}.verify_pairs, stop));
  if (const auto* failed = std::get_if<SideFailed>(&measured)) {
    check.reason = failed->reason;
    return log_.reverted(check);
  }
  judge_revert(culprit, std::get<PairReadings>(measured), check);
  return log_.reverted(check);
}

void SearchSteps::give_up(const std::string& outcome, const std::string& reason) {
  SearchResult result;
  result.outcome = outcome;
  result.reason = reason;
  result.commits = static_cast<int>(range_.size());
  result.folded = result.commits - static_cast<int>(folded_.classes.size());
  result_ = std::move(result);
}

SearchResult SearchSteps::make_result(const bisect::Answer& found) const {
  SearchResult result;
  result.outcome = bisect::to_string(found.outcome);
  result.commits = static_cast<int>(range_.size());
  result.folded = result.commits - static_cast<int>(folded_.classes.size());
  for (const auto& culprit : found.culprits) result.culprits.push_back(make_finding(culprit));
  for (const auto candidate : found.suspects) result.suspects.push_back(commit_of(candidate));
  result.suspects_confidence = found.suspects_confidence;
  result.ends = make_effects(found.ends);
  result.builds = found.builds;
  result.runs = found.runs;
  result.skipped = skipped(found.skipped);
  result.reason = found.reason;
  return result;
}

CulpritFinding SearchSteps::make_finding(const bisect::Culprit& culprit) const {
  CulpritFinding finding;
  for (const auto candidate : culprit.classes) finding.commits.push_back(commit_of(candidate));
  finding.parent = sha_of(culprit.parent);
  finding.confidence = culprit.confidence;
  finding.effects = make_effects(culprit.effects);
  finding.verified = how_verified(culprit);
  return finding;
}

std::string SearchSteps::how_verified(const bisect::Culprit& culprit) const {
  int pairs = 0;
  for (const auto& effect : culprit.effects) pairs = std::max(pairs, effect.pairs);
  auto text = "against " + short_sha(sha_of(culprit.parent)) +
              ", the commit before it that builds, " + std::to_string(pairs) + " fresh pairs";
  const auto* check = revert_of(culprit.classes.back());
  if (check == nullptr) return text;
  if (!check->applies || !check->builds) {
    return text + "; reverting it on the bad end was not possible (" + check->reason + ")";
  }
  return text + (check->gone
                     ? "; reverting it on the bad end takes the change away"
                     : "; reverting it on the bad end did not clearly take the change away");
}

std::vector<TargetEffect> SearchSteps::make_effects(
    const std::vector<bisect::Effect>& effects) const {
  std::vector<TargetEffect> result;
  for (const auto& effect : effects) {
    result.push_back(TargetEffect{order_.targets.at(effect.target).target, effect.effect,
                                  effect.low, effect.high, effect.pairs});
  }
  return result;
}

std::vector<SkippedBuild> SearchSteps::skipped(const std::vector<std::size_t>& classes) const {
  std::vector<SkippedBuild> result;
  for (const auto candidate : classes) {
    result.push_back(SkippedBuild{commit_of(candidate), log_.reason_of(candidate)});
  }
  return result;
}

const std::string& SearchSteps::commit_of(std::size_t candidate) const {
  return range_.at(folded_.classes.at(candidate).commit).sha;
}

std::string SearchSteps::sha_of(bisect::Reference side) const {
  return side ? commit_of(*side) : order_.good;
}

}  // namespace torchwatch::nightly
