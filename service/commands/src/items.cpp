#include "torchwatch/commands/items.hpp"

#include <ostream>

namespace torchwatch::commands {

void print(const Invocation& invocation, const Items& items, const std::string& nothing) {
  if (invocation.json) {
    print_json(invocation, nlohmann::json{{"schema", 1}, {"items", items.json}});
  } else if (items.table.empty()) {
    invocation.out << nothing << '\n';
  } else {
    items.table.print(invocation.out, invocation.screen);
  }
}

Outcome report_done(const Invocation& invocation, Done done) {
  if (!invocation.json) {
    invocation.out << done.message << '\n';
    return ExitStatus::done;
  }
  auto& object = done.more;
  object.update(
      {{"schema", 1}, {"kind", done.kind}, {"item", done.item}, {"message", done.message}});
  print_json(invocation, object);
  return ExitStatus::done;
}

void print_json(const Invocation& invocation, const nlohmann::json& document) {
  invocation.out << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

void add_limit(CLI::App& list, int& limit) {
  constexpr int kMost = 10'000;
  list.add_option("--limit", limit, "How many, the newest first, 1 to 10000")
      ->check(whole_number(1, kMost))
      ->capture_default_str();
}

}  // namespace torchwatch::commands
