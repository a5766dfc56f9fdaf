#include "lines.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "torchwatch/orders/order.hpp"

namespace torchwatch::orders {

Lines::Lines(int descriptor, const std::stop_token& stop)
    : descriptor_(descriptor),
      stopped_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      on_stop_(stop, [this] {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = write(stopped_.get(), &one, sizeof(one));
      }) {}

Result<std::optional<std::string>> Lines::next() {
  while (read_.find('\n') == std::string::npos) {
    if (read_.size() > kOrderBytesMax) {
      return fail(ErrorCode::invalid, "an order longer than " + std::to_string(kOrderBytesMax) +
                                          " bytes, which no torchwatch sends");
    }
    if (!read_more()) return std::optional<std::string>();
  }
  const auto end = read_.find('\n');
  std::optional<std::string> line = read_.substr(0, end);
  read_.erase(0, end + 1);
  return line;
}

/// Whether there may be more. What lies behind the last end of a line was cut off.
bool Lines::read_more() {
  std::array<pollfd, 2> either{pollfd{.fd = descriptor_, .events = POLLIN, .revents = 0},
                               pollfd{.fd = stopped_.get(), .events = POLLIN, .revents = 0}};
  if (poll(either.data(), either.size(), -1) < 0) return errno == EINTR;
  if (either[1].revents != 0) return false;
  std::array<char, 1U << 16U> block{};
  const ssize_t got = read(descriptor_, block.data(), block.size());
  if (got > 0) read_.append(block.data(), static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace torchwatch::orders
