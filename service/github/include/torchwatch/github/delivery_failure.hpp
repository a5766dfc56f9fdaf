#pragma once

#include <chrono>
#include <string>
#include <tl/expected.hpp>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::github {

/// Why a message was not delivered, and what to do about it.
struct DeliveryFailure {
  std::string sentence;          ///< what happened and what to do, for people
  bool is_for_all = false;       ///< any other message would fail now as well
  bool is_refusal = false;       ///< GitHub understood, and does not do it: not there, not allowed
  std::chrono::seconds wait{0};  ///< minimum, as GitHub asked; 0: not stated
  int status = 0;                ///< of the answer; 0: there was none
  bool may_be_done = false;      ///< of a write: GitHub may have done it all the same
  bool is_locked = false;        ///< nobody may say anything there
};

template <typename T>
using Delivered = tl::expected<T, DeliveryFailure>;

/// Interprets an unexpected answer. `what` names the request ("POST /repos/o/r/issues").
DeliveryFailure failure_of(const platform::HttpResponse&, const std::string& what,
                           const std::string& repository, platform::WallMillis now);

/// Returns how long GitHub is to be left alone after that answer: what it asks for, or a minute
/// where it does not say; 0 if no limit is reached.
std::chrono::seconds pause_asked_for(const platform::HttpResponse&, platform::WallMillis now);

/// Interprets a missing or unreadable answer.
DeliveryFailure failure_of(const Error&);

/// Returns how long to wait after the `failures`-th failure in a row: what GitHub asked for, at
/// most a day; else one minute, doubled with each failure up to half an hour.
std::chrono::seconds wait_after(const DeliveryFailure&, int failures);

}  // namespace torchwatch::github
