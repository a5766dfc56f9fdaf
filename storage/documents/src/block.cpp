#include "torchwatch/documents/block.hpp"

#include <charconv>

namespace torchwatch::comparison {
namespace {

/// Removes the last part, behind the last slash, from `rest` and returns it.
std::string_view take_last_part(std::string_view& rest) {
  const auto slash = rest.rfind('/');
  if (slash == std::string_view::npos) return {};
  const auto part = rest.substr(slash + 1);
  rest.remove_suffix(part.size() + 1);
  return part;
}

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

Side Block::side(int position) const {
  const bool outer = position == 0 || position == kRuns - 1;
  const bool baseline_outside = index % 2 == 0;
  return outer == baseline_outside ? Side::baseline : Side::candidate;
}

std::string Block::slot(int position) const {
  return std::string(torchwatch::to_string(pass)) + "/" + torchwatch::to_string(benchmark) + "/" +
         std::string(spelling(stage)) + "/" + std::to_string(index) + "/" +
         std::to_string(position);
}

std::optional<PlaceInBlock> parse_slot(std::string_view slot) {
  const auto position = number_in(take_last_part(slot));
  const auto index = number_in(take_last_part(slot));
  const auto stage = parse_word<Stage>(take_last_part(slot));
  if (!position || *position >= Block::kRuns || !index || !stage) return std::nullopt;
  Block block;
  block.index = *index;
  return PlaceInBlock{block.side(*position), *stage};
}

}  // namespace torchwatch::comparison
