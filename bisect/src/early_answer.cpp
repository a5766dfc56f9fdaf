#include "torchwatch/bisect/early_answer.hpp"

#include "search_plan.hpp"
#include "search_record.hpp"

namespace torchwatch::bisect {

Result<Answer> early_answer(const SearchSettings& settings, const std::vector<SearchSeries>& series,
                            std::size_t classes, const std::vector<SearchEvent>& events,
                            std::string reason) {
  TW_TRY_VOID(CulpritSearch::create(settings, series, classes));  // what it refuses
  SearchRecord record(settings, series, classes);
  SearchPlan plan;
  plan.decide(record);
  for (const auto& event : events) {
    TW_TRY_VOID(record.take(event));
    if (std::holds_alternative<SetAside>(event)) plan = SearchPlan();
    plan.decide(record);
  }
  return plan.answer(record, std::move(reason));
}

}  // namespace torchwatch::bisect
