#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "stores.hpp"

namespace torchwatch::storage {

/// A small comparison through every store, in steps that follow from the stored state alone, so
/// that a new process continues where an earlier one stopped. Its tracker is a file.
class ToyComparison {
 public:
  ToyComparison(Stores& stores, std::filesystem::path tracker)
      : stores_(stores), tracker_(std::move(tracker)) {}

  static int steps();
  /// Does the steps that are not done yet, and calls `acknowledge` with the number of each.
  Status play(const std::function<void(int)>& acknowledge);
  /// Returns the number of steps that are done.
  Result<int> steps_done();

  /// Returns everything that must be equal at the end, whatever happened on the way.
  std::string dump();

 private:
  struct Step;
  static const std::vector<Step>& plan();

  Result<bool> builds_are_ready();
  Status make_builds_ready();
  Result<ComparisonRow> comparison();
  Result<bool> comparison_is_past(ComparisonState);
  Status plan_comparison();
  Result<bool> run_is_over(const Owner&, const std::string& slot);
  Result<std::string> issue(const Owner&, const std::string& slot);
  Status run(const Owner&, const std::string& slot);
  Status end_measuring();
  Status judge();
  Result<bool> search_is_open();
  Status open_bisection();
  Result<bool> search_has_ended();
  Status search_on();
  Status end_search();
  Status queue_issue();
  Result<bool> outbox_is_empty();
  Status send_messages();
  Status send(const OutboxRow&);
  Result<bool> incident_is_closed();
  Status close_incident();
  Result<bool> request_is_answered();
  Status answer_request();

  std::string dump_runs(const Owner&);
  std::string dump_incident();

  Stores& stores_;
  std::filesystem::path tracker_;
};

}  // namespace torchwatch::storage
