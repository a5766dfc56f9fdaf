#include "torchwatch/conversation/correspondent.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace torchwatch::conversation {
namespace {

/// How long to wait at most before the next look at what was put off.
constexpr std::chrono::seconds kLookAgainAfter{60};

}  // namespace

Correspondent::Correspondent(Parts parts, Note note)
    : rest_(parts.settings.poll.count() > 0 ? std::min(parts.settings.poll, kLookAgainAfter)
                                            : kLookAgainAfter),
      inbox_(std::move(parts)),
      note_(std::move(note)),
      rounds_(rest_, [this](const std::stop_token& stop) { work(stop); }) {}

/// An exception is a fault of ours. It costs one round, not the service.
void Correspondent::work(const std::stop_token& stop) {
  try {
    const auto problem = inbox_.work(stop);
    if (stop.stop_requested()) return;
    note_(problem ? *problem : problem.error().text());
  } catch (const std::exception& exception) {
    note_(std::string("internal error: ") + exception.what());
  }
}

}  // namespace torchwatch::conversation
