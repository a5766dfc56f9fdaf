#pragma once

#include <array>

#include "torchwatch/records/error.hpp"

namespace torchwatch::test {

/// Every error that may be about an item of work; the other two stop the service.
inline constexpr std::array kItemErrors{
    ErrorCode::invalid,  ErrorCode::not_found, ErrorCode::conflict,  ErrorCode::corrupt,
    ErrorCode::internal, ErrorCode::failed,    ErrorCode::timed_out, ErrorCode::unavailable};

}  // namespace torchwatch::test
