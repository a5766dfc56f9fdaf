#include "torchwatch/nightly/search_run.hpp"

#include "search_steps.hpp"

namespace torchwatch::nightly {
namespace {

/// Errors that no later try can mend end the search with an answer; others leave it open.
bool is_final(const Error& error) {
  return error.code == ErrorCode::invalid || error.code == ErrorCode::not_found;
}

Result<storage::BisectionRow> end(Workshop& workshop, const storage::BisectionRow& row,
                                  const SearchResult& result) {
  storage::BisectionStore store(workshop.database);
  TW_TRY_VOID(store.ended(row, to_json(result), workshop.clock.wall_now()));
  return store.get(row.id);
}

}  // namespace

Result<storage::BisectionRow> carry_out_search(Workshop& workshop, const storage::BisectionRow& row,
                                               std::stop_token stop) {
  if (row.state == storage::BisectionState::ended) return row;
  TW_TRY(const auto order, parse_search_order(row.request_json));
  SearchSteps steps(workshop, row, order);
  if (auto prepared = steps.prepare(); !prepared) {
    if (!is_final(prepared.error())) return fail(prepared.error());
    SearchResult result;
    result.outcome = "nothing_to_search";
    result.reason = prepared.error().message;
    return end(workshop, row, result);
  }
  while (!steps.is_over()) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "the search was interrupted");
    TW_TRY_VOID(steps.take_one(stop));
  }
  return end(workshop, row, steps.result());
}

}  // namespace torchwatch::nightly
