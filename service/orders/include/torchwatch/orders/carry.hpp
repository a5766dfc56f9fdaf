#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "torchwatch/orders/order.hpp"

namespace torchwatch::orders {

/// Carries out an order on this machine with a LocalExecutor, while it holds the machine's lock,
/// and says each line of the answer as soon as it is known. When `stop` is requested it ends its
/// runs and says no more: the order did not take place.
void carry(const Order&, const std::function<void(const std::string&)>& say, std::stop_token stop);

/// Runs a process on this machine as its order says, and says how it ended. When `stop` is
/// requested it ends the process and says no more.
void carry(const ProcessOrder&, const std::function<void(const std::string&)>& say,
           std::stop_token stop);

}  // namespace torchwatch::orders
