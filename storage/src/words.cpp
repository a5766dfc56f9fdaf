#include "words.hpp"

namespace torchwatch::storage {

std::string_view to_string(BuildOrigin value) {
  return spelling(value);
}
std::string_view to_string(BuildState value) {
  return spelling(value);
}
std::string_view to_string(Purpose value) {
  return spelling(value);
}
std::string_view to_string(ComparisonState value) {
  return spelling(value);
}
std::string_view to_string(AttemptState value) {
  return spelling(value);
}
std::string_view to_string(IncidentState value) {
  return spelling(value);
}
std::string_view to_string(DecisionKind value) {
  return spelling(value);
}
std::string_view to_string(BisectionState value) {
  return spelling(value);
}
std::string_view to_string(OutboxKind value) {
  return spelling(value);
}
std::string_view to_string(OutboxState value) {
  return spelling(value);
}
std::string_view to_string(RequestKind value) {
  return spelling(value);
}
std::string_view to_string(RequestState value) {
  return spelling(value);
}

std::string_view to_string(ItemKind value) {
  return spelling(value);
}

bool is_end(ComparisonState state) {
  return state == ComparisonState::reported || state == ComparisonState::accepted ||
         state == ComparisonState::refused || state == ComparisonState::failed ||
         state == ComparisonState::cancelled;
}

}  // namespace torchwatch::storage
