#include <algorithm>

#include "ending.hpp"
#include "head.hpp"
#include "messages.hpp"
#include "noted.hpp"
#include "torchwatch/comparison/build_preparer.hpp"
#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::pulls {
namespace {

using nlohmann::json;
using storage::ComparisonRow;

constexpr const char* kBegin = "begin";

/// The work of one request, step by step.
class Work {
 public:
  Work(PullParts& parts, const storage::RequestRow& request, PullSpec spec, std::stop_token stop)
      : parts_(parts),
        services_(parts.services),
        request_(request),
        noted_(noted_by(request)),
        stop_(std::move(stop)) {
    saying_ = {
        .spec = std::move(spec), .request = request.id, .head = noted_.head, .base = noted_.base};
  }

  Result<std::string> carry_out() {
    if (parts_.heads == nullptr || !parts_.heads->is_confined()) {
      return refuse("there is no sandbox on the machine that would build it");
    }
    TW_TRY_VOID(find_head());
    TW_TRY_VOID(fetch());
    TW_TRY_VOID(find_base());
    TW_TRY_VOID(note());
    TW_TRY_VOID(say_begun());
    auto apart = parts_.heads->services(services_);
    if (!noted_.comparison) TW_TRY_VOID(open_comparison(apart));
    TW_TRY(const auto row, storage::ComparisonStore(services_.database).get(*noted_.comparison));
    TW_TRY(const auto ended, nightly::carry_out_comparison(apart, row, stop_));
    if (ended.state != storage::ComparisonState::reported) {
      return refuse("its comparison was ended: " + std::string(to_string(ended.state)));
    }
    TW_TRY_VOID(say_what_came(ended));
    return to_json(noted_).dump();
  }

 private:
  /// Says on the pull request why nothing is compared; the request ends with the same sentence.
  tl::unexpected<Error> refuse(const std::string& why) {
    const auto said = storage::OutboxStore(services_.database)
                          .queue(comment_message(saying_, kEnd, refused_comment(saying_, why),
                                                 services_.random.token()));
    return said ? fail(ErrorCode::invalid, why) : fail(said.error());
  }

  Status find_head() {
    const auto asked_at = saying_.spec.asked_at != 0 ? saying_.spec.asked_at : request_.created_at;
    TW_TRY(const auto head, head_of(parts_, saying_.spec, asked_at, noted_.head, stop_));
    if (!head.refusal.empty()) return refuse(head.refusal);
    noted_.head = saying_.head = head.sha;
    return {};
  }

  bool has_head() const { return services_.history->commit(noted_.head).has_value(); }

  Status fetch() {
    if (has_head()) return {};
    if (services_.source != nullptr) {
      const auto place = "refs/pull/" + std::to_string(saying_.spec.pull) + "/head";
      const auto fetched = services_.source->fetch(place, stop_);
      const bool is_missing = !fetched && fetched.error().code == ErrorCode::not_found;
      if (!fetched && !is_missing) return fetched;
      if (has_head()) return {};
      // It was pushed over meanwhile; the server may still have the commit.
      const auto by_name = services_.source->fetch(noted_.head, stop_);
      const bool is_gone = !by_name && by_name.error().code == ErrorCode::not_found;
      if (!by_name && !is_gone) return by_name;
      if (has_head()) return {};
    }
    return refuse("commit " + report::code(short_sha(noted_.head)) + " cannot be fetched any more");
  }

  Status find_base() {
    const auto base = services_.history->merge_base(noted_.head, services_.config.source.branch);
    if (!base && base.error().code == ErrorCode::not_found) {
      return refuse("it has no commit in common with " +
                    report::code(services_.config.source.branch));
    }
    if (!base) return fail(base.error());
    if (*base == noted_.head) return refuse("its head is on the branch already");
    if (noted_.base.empty()) noted_.base = *base;
    saying_.base = noted_.base;
    return {};
  }

  Status note() {
    return storage::RequestStore(services_.database).note(request_.id, to_json(noted_).dump());
  }

  Status queue(const std::vector<storage::OutboxRow>& rows) {
    storage::OutboxStore outbox(services_.database);
    return services_.database.transact([&]() -> Status {
      for (const auto& row : rows) TW_TRY_VOID(outbox.queue(row));
      return {};
    });
  }

  bool has_app() const { return services_.config.github.app_id != 0; }

  Status say_begun() {
    return queue(
        {comment_message(saying_, kBegin, begun_comment(saying_), services_.random.token()),
         mark_message(saying_, has_app(), kBegin, {}, false)});
  }

  /// The build of what it branched from, as any other commit of the branch is built.
  Result<comparison::MeasurableBuild> build_base(const std::vector<std::string>& workloads) {
    comparison::BuildPreparer preparer(services_, workloads);
    TW_TRY(auto built, preparer.of_commit(noted_.base, std::nullopt, stop_));
    if (auto* build = std::get_if<comparison::MeasurableBuild>(&built)) return std::move(*build);
    return refuse("the commit that it branched from, " + report::code(short_sha(noted_.base)) +
                  ", cannot be built");
  }

  Result<storage::Id> build_head(comparison::Services& apart,
                                 const std::vector<std::string>& workloads,
                                 const builds::Tree& base) {
    TW_TRY(auto built, parts_.heads->build(noted_.head, base, stop_));
    if (const auto* no = std::get_if<builds::Unbuildable>(&built)) {
      return refuse("its head " + report::code(short_sha(noted_.head)) +
                    " cannot be built: " + report::code(no->reason));
    }
    const auto name = "pull/" + std::to_string(saying_.spec.pull) + "@" + short_sha(noted_.head);
    comparison::BuildPreparer preparer(apart, workloads);
    TW_TRY(const auto build, preparer.of_tree(storage::BuildOrigin::pull, name,
                                              std::get<builds::Tree>(built), "", stop_));
    return build.build;
  }

  Status open_comparison(comparison::Services& apart) {
    TW_TRY(const auto plan, comparison::plan_of(services_, saying_.spec.selection));
    const auto workloads = workloads_of(plan);
    TW_TRY(const auto base, build_base(workloads));
    TW_TRY(const auto head, build_head(apart, workloads, base.tree));
    // A request that somebody cancelled meanwhile opens none: then it cannot be noted.
    return services_.database.transact([&]() -> Status {
      TW_TRY(const auto row, storage::ComparisonStore(services_.database)
                                 .open({.purpose = storage::Purpose::pull_request,
                                        .candidate = head,
                                        .baseline = base.build,
                                        .plan_json = to_json(plan)},
                                       services_.clock.wall_now()));
      noted_.comparison = row.id;
      return note();
    });
  }

  Status say_what_came(const ComparisonRow& row) {
    TW_TRY(const auto verdicts, storage::verdicts_of(services_.database, row.id));
    const auto sorted = report::sorted(verdicts, {});
    Came came{.sentence = report::outcome_text(sorted), .changed = sorted.regressed};
    // What ran before and does not with the head has no figure, and is the first thing to look at.
    std::ranges::copy_if(sorted.failed, std::back_inserter(came.changed),
                         [](const auto& each) { return each.baseline_value > 0; });
    came.changed.insert(came.changed.end(), sorted.improved.begin(), sorted.improved.end());
    TW_TRY(const auto comparison, comparison::Comparison::of(row));
    came.unit_of_plan = std::to_string(workloads_of(comparison.plan).size()) +
                        " workloads, preset " + std::string(to_string(comparison.plan.preset));
    came.confidence = row.confidence.value_or(came.confidence);
    came.page = page_of_comparison(services_.config, row.id);
    const bool is_neutral =
        !sorted.regressed.empty() || !sorted.undecided.empty() || !sorted.failed.empty();
    return queue(
        {comment_message(saying_, kEnd, came_comment(saying_, came), services_.random.token()),
         mark_message(saying_, has_app(), kEnd, came, is_neutral)});
  }

  PullParts& parts_;
  comparison::Services& services_;
  const storage::RequestRow& request_;
  Noted noted_;
  Saying saying_;
  std::stop_token stop_;
};

}  // namespace

Result<std::string> carry_out(PullParts& parts, const storage::RequestRow& request,
                              std::stop_token stop) {
  TW_TRY(auto spec, parse_pull_spec(report::embedded(request.body_json)));
  return Work(parts, request, std::move(spec), std::move(stop)).carry_out();
}

}  // namespace torchwatch::pulls
