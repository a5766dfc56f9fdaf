// A column is read by the words of its enumeration, which a template looks up here.
// IWYU pragma: always_keep
#pragma once

#include <array>
#include <string_view>

#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/records/words.hpp"

namespace torchwatch {

template <>
struct Words<storage::AlarmCause> {
  using enum storage::AlarmCause;
  static constexpr std::string_view kKind = "cause of an alarm";
  static constexpr std::array kAll{Word{no_nightly, "no_nightly"}, Word{no_verdict, "no_verdict"},
                                   Word{no_delivery, "no_delivery"},
                                   Word{no_self_test, "no_self_test"},
                                   Word{missed_drill, "missed_drill"}};
};

}  // namespace torchwatch
