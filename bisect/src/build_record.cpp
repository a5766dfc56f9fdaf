#include "build_record.hpp"

namespace torchwatch::bisect {

std::string name_of(Place place) {
  return place == kGoodEnd ? "the good end" : "class " + std::to_string(place);
}

BuildRecord::BuildRecord(std::size_t class_count) : last_(static_cast<Place>(class_count) - 1) {
  if (class_count > 0) built_.insert(last_);
}

Status BuildRecord::take_built(Place place) {
  if (is_broken(place)) {
    return fail(ErrorCode::conflict, name_of(place) + " has a build after it could not be built");
  }
  const bool is_new = built_.insert(place).second;
  if (is_new && has_begun()) {
    counted_.insert(place);
    ++count_;
  }
  return {};
}

Status BuildRecord::take_broken(Place place) {
  if (place == last_) {
    return fail(ErrorCode::conflict, name_of(place) + " is the bad end, which has a build");
  }
  if (measured_.contains(place)) {
    return fail(ErrorCode::conflict, name_of(place) + " could not be built after it was measured");
  }
  built_.erase(place);
  if (counted_.erase(place) > 0) --count_;
  const bool is_new = broken_.insert(place).second;
  if (is_new && has_begun()) ++failures_;
  return {};
}

Status BuildRecord::take_measured(Place place) {
  if (place == kGoodEnd) return {};
  TW_TRY_VOID(take_built(place));
  measured_.insert(place);
  return {};
}

void BuildRecord::take_set_aside(Place place) {
  if (place != last_) built_.erase(place);
  counted_.erase(place);
  measured_.erase(place);
}

Status BuildRecord::check_measurable(Place place) const {
  if (!is_broken(place)) return {};
  return fail(ErrorCode::conflict, name_of(place) + " was measured but could not be built");
}

}  // namespace torchwatch::bisect
