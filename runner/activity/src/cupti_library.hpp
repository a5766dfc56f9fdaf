#pragma once

#include <string>
#include <vector>

#include "cupti_abi.hpp"
#include "torchwatch/activity/shared_library.hpp"

namespace torchwatch::activity {

/// The functions of CUPTI in use.
struct CuptiLibrary {
  cupti::GetVersion* get_version = nullptr;
  cupti::GetTimestamp* get_timestamp = nullptr;
  cupti::Subscribe* subscribe = nullptr;
  cupti::SubscribeNamed* subscribe_named = nullptr;  ///< null before CUPTI 12.9
  cupti::Unsubscribe* unsubscribe = nullptr;
  cupti::SetAttribute* set_attribute = nullptr;
  cupti::RegisterCallbacks* register_callbacks = nullptr;
  cupti::Enable* enable = nullptr;
  cupti::Enable* disable = nullptr;
  cupti::FlushAll* flush_all = nullptr;
  cupti::GetNextRecord* next_record = nullptr;
  cupti::GetNumDroppedRecords* count_dropped = nullptr;
};

/// Errors: unavailable, naming the function that is missing or why nothing could be loaded.
Result<CuptiLibrary> load_cupti(const std::vector<std::string>& names);

/// The error for CUPTI's answer to `call`: its meaning, what to do, call and code.
Error cupti_error(const std::string& call, int code);

}  // namespace torchwatch::activity
