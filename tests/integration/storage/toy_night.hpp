#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "stores.hpp"

namespace torchwatch::storage {

/// A small night through every store, in steps that follow from the stored state alone, so that
/// whoever starts again just goes on. Its tracker is a file that outlives every process.
class ToyNight {
 public:
  ToyNight(Stores& stores, std::filesystem::path tracker)
      : stores_(stores), tracker_(std::move(tracker)) {}

  static int steps();
  /// Does the steps that are not done yet; `acknowledge` hears of each that is, by its number.
  Status play(const std::function<void(int)>& acknowledge);
  /// How many steps are done, from the first one on.
  Result<int> steps_done();

  /// All that must be the same at the end, whatever happened on the way.
  std::string dump();

 private:
  struct Step;
  static const std::vector<Step>& plan();

  Result<bool> builds_are_ready();
  Status make_builds_ready();
  Result<NightRow> night();
  Result<bool> night_is_past(NightState);
  Status plan_night();
  Result<bool> run_is_over(const Owner&, const std::string& slot);
  Status run(const Owner&, const std::string& slot);
  Status end_measuring();
  Status judge();
  Result<bool> search_is_open();
  Status open_search();
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
