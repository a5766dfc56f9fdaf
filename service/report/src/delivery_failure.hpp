#pragma once

#include <chrono>
#include <string>
#include <tl/expected.hpp>

#include "torchwatch/doors/clock.hpp"
#include "torchwatch/doors/http_client.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::report {

/// Why a message did not get through, and what follows from it.
struct DeliveryFailure {
  std::string sentence;          ///< what happened and what to do, for people
  bool is_final = false;         ///< the same message never gets through
  bool is_for_all = false;       ///< any other message would fail now as well
  std::chrono::seconds wait{0};  ///< at least this long, if the tracker said so; else 0
};

template <typename T>
using Delivered = tl::expected<T, DeliveryFailure>;

/// The failure that an answer other than the expected one means. `what` says what was tried
/// ("POST /repos/o/r/issues").
DeliveryFailure failure_of(const doors::HttpResponse&, const std::string& what,
                           const std::string& repository, doors::WallMillis now);

/// No answer, or none that can be read.
DeliveryFailure failure_of(const Error&);

/// How long to wait after the `tries`-th failure: what the tracker asked for, and never less than
/// a minute, doubling up to six hours.
std::chrono::seconds wait_after(const DeliveryFailure&, int tries);

}  // namespace torchwatch::report
