#include "torchwatch/events/lines.hpp"

#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>

#include "texts.hpp"

namespace torchwatch::events {
namespace {

constexpr int kEventsAtOnce = 256;

}  // namespace

Result<std::unique_ptr<Lines>> Lines::start(storage::Database& database, std::ostream& out) {
  TW_TRY(const auto kept, storage::EventStore(database).kept());
  std::unique_ptr<Lines> lines(new Lines(database, out, kept.newest));
  try {
    lines->thread_ =
        std::jthread([&self = *lines](const std::stop_token& stop) { self.run(stop); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::unavailable, std::string("no thread to print events: ") + error.what());
  }
  // It is called with the database locked, so the thread reads.
  lines->listening_ = database.on_commit([&self = *lines] {
    const std::scoped_lock lock(self.mutex_);
    self.has_committed_ = true;
    self.committed_.notify_one();
  });
  return lines;
}

Lines::~Lines() {
  if (!thread_.joinable()) return;
  listening_.reset();
  thread_.request_stop();
  thread_.join();
}

void Lines::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      committed_.wait(lock, stop, [this] { return has_committed_; });
      has_committed_ = false;
    }
    print_new();
  }
  print_new();
}

void Lines::print_new() {
  storage::EventStore events(database_);
  while (true) {
    const auto rows = events.after(printed_, kEventsAtOnce);
    // Whoever works with the database meets what is wrong with it, too.
    if (!rows || rows->empty()) return;
    for (const auto& row : *rows) {
      out_ << data_of(row).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << '\n';
      printed_ = row.id;
    }
    out_ << std::flush;
  }
}

}  // namespace torchwatch::events
