// A column is read by the words of its enumeration, which a template looks up here.
// IWYU pragma: always_keep
#pragma once

#include <array>
#include <string_view>

#include "torchwatch/records/words.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch {

template <>
struct Words<storage::BuildOrigin> {
  using enum storage::BuildOrigin;
  static constexpr std::string_view kKind = "origin of a build";
  static constexpr std::array kAll{Word{nightly, "nightly"}, Word{commit, "commit"},
                                   Word{folder, "folder"}, Word{release, "release"},
                                   Word{pull, "pull"}};
};

template <>
struct Words<storage::BuildState> {
  using enum storage::BuildState;
  static constexpr std::string_view kKind = "state of a build";
  static constexpr std::array kAll{Word{discovered, "discovered"}, Word{ready, "ready"},
                                   Word{rejected, "rejected"}};
};

template <>
struct Words<storage::Purpose> {
  using enum storage::Purpose;
  static constexpr std::string_view kKind = "purpose";
  static constexpr std::array kAll{Word{nightly, "nightly"},
                                   Word{requested, "requested"},
                                   Word{recheck, "recheck"},
                                   Word{drift, "drift"},
                                   Word{self_test, "self_test"},
                                   Word{drill, "drill"},
                                   Word{measurement, "measurement"},
                                   Word{pull_request, "pull_request"},
                                   Word{study, "study"}};
};

template <>
struct Words<storage::ComparisonState> {
  using enum storage::ComparisonState;
  static constexpr std::string_view kKind = "state of a comparison";
  static constexpr std::array kAll{Word{discovered, "discovered"}, Word{ready, "ready"},
                                   Word{measured, "measured"},     Word{judged, "judged"},
                                   Word{bisected, "bisected"},     Word{reported, "reported"},
                                   Word{accepted, "accepted"},     Word{refused, "refused"},
                                   Word{failed, "failed"},         Word{cancelled, "cancelled"}};
};

template <>
struct Words<storage::AttemptState> {
  using enum storage::AttemptState;
  static constexpr std::string_view kKind = "state of an attempt";
  static constexpr std::array kAll{Word{issued, "issued"}, Word{done, "done"},
                                   Word{failed, "failed"}, Word{abandoned, "abandoned"}};
};

template <>
struct Words<storage::IncidentState> {
  using enum storage::IncidentState;
  static constexpr std::string_view kKind = "state of an incident";
  static constexpr std::array kAll{Word{open, "open"}, Word{acknowledged, "acknowledged"},
                                   Word{closed, "closed"}};
};

template <>
struct Words<storage::DecisionKind> {
  using enum storage::DecisionKind;
  static constexpr std::string_view kKind = "kind of a decision";
  static constexpr std::array kAll{Word{acknowledged, "acknowledged"}, Word{accepted, "accepted"},
                                   Word{closed, "closed"}, Word{reopened, "reopened"},
                                   Word{disputed, "disputed"}};
};

template <>
struct Words<storage::BisectionState> {
  using enum storage::BisectionState;
  static constexpr std::string_view kKind = "state of a bisection";
  static constexpr std::array kAll{Word{open, "open"}, Word{ended, "ended"}};
};

template <>
struct Words<storage::OutboxKind> {
  using enum storage::OutboxKind;
  static constexpr std::string_view kKind = "kind of a message";
  static constexpr std::array kAll{
      Word{open, "open"},       Word{comment, "comment"}, Word{close, "close"},
      Word{reopen, "reopen"},   Word{edit, "edit"},       Word{umbrella, "umbrella"},
      Word{digest, "digest"},   Word{reply, "reply"},     Word{pull_comment, "pull_comment"},
      Word{status, "status"},   Word{check, "check"},     Word{dispatch, "dispatch"},
      Word{webhook, "webhook"}, Word{mail, "mail"}};
};

template <>
struct Words<storage::OutboxState> {
  using enum storage::OutboxState;
  static constexpr std::string_view kKind = "state of a message";
  static constexpr std::array kAll{Word{pending, "pending"}, Word{sending, "sending"},
                                   Word{sent, "sent"}, Word{dead, "dead"}};
};

template <>
struct Words<storage::RequestKind> {
  using enum storage::RequestKind;
  static constexpr std::string_view kKind = "kind of a request";
  static constexpr std::array kAll{Word{nightly, "nightly"}, Word{bisection, "bisection"},
                                   Word{fetch, "fetch"}};
};

template <>
struct Words<storage::RequestState> {
  using enum storage::RequestState;
  static constexpr std::string_view kKind = "state of a request";
  static constexpr std::array kAll{Word{pending, "pending"}, Word{running, "running"},
                                   Word{done, "done"},       Word{refused, "refused"},
                                   Word{failed, "failed"},   Word{cancelled, "cancelled"}};
};

template <>
struct Words<storage::ItemKind> {
  using enum storage::ItemKind;
  static constexpr std::string_view kKind = "kind of an item";
  static constexpr std::array kAll{Word{channel, "channel"},       Word{build, "build"},
                                   Word{comparison, "comparison"}, Word{bisection, "bisection"},
                                   Word{request, "request"},       Word{source, "source"}};
};

}  // namespace torchwatch
