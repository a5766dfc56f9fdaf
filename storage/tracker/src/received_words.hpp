// IWYU pragma: always_keep
#pragma once

#include <array>
#include <string_view>

#include "torchwatch/records/words.hpp"
#include "torchwatch/tracker/conversation_store.hpp"
#include "torchwatch/tracker/received_store.hpp"

namespace torchwatch {

template <>
struct Words<storage::ReceivedKind> {
  using enum storage::ReceivedKind;
  static constexpr std::string_view kKind = "kind of a received item";
  static constexpr std::array kAll{Word{issue, "issue"}, Word{comment, "comment"}};
};

template <>
struct Words<storage::ReceivedState> {
  using enum storage::ReceivedState;
  static constexpr std::string_view kKind = "state of a received item";
  static constexpr std::array kAll{Word{pending, "pending"}, Word{done, "done"},
                                   Word{refused, "refused"}, Word{failed, "failed"}};
};

template <>
struct Words<storage::CommandState> {
  using enum storage::CommandState;
  static constexpr std::string_view kKind = "state of a command";
  static constexpr std::array kAll{Word{waiting, "waiting"}, Word{ended, "ended"},
                                   Word{refused, "refused"}};
};

}  // namespace torchwatch
