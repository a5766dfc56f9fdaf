#include "torchwatch/conversation/correspondent.hpp"

#include <exception>
#include <utility>

#include "torchwatch/platform/core_affinity.hpp"

namespace torchwatch::conversation {
namespace {

/// How long to wait at most before the next look at what was put off.
constexpr std::chrono::seconds kLookAgainAfter{60};

}  // namespace

Correspondent::Correspondent(Parts parts, Note note)
    : inbox_(std::move(parts)), note_(std::move(note)) {
  // What it does must not disturb what is measured.
  const platform::OffMeasuredCore thread_to_come;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Correspondent::~Correspondent() = default;

void Correspondent::wake() {
  const std::scoped_lock lock(mutex_);
  is_woken_ = true;
  wake_.notify_all();
}

void Correspondent::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    work(stop);
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, kLookAgainAfter, [this] { return is_woken_; });
    is_woken_ = false;
  }
}

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
