#include "torchwatch/commands/page_text.hpp"

#include <ostream>

#include "torchwatch/control/service_now.hpp"
#include "torchwatch/daemon/page_sources.hpp"
#include "torchwatch/pages/pages.hpp"

namespace torchwatch::commands {

Status print_page(const Invocation& invocation, const config::Config& config,
                  storage::Database& database, const std::string& path) {
  const platform::SystemClock clock;
  auto sources = daemon::page_sources(config, database, clock, daemon::commit_counter(config));
  sources.service_now = [&config] {
    health::Report report;
    report.doing.comparison = control::comparison_at_work(config);
    return report;
  };
  TW_TRY(const auto text, pages::text_of(std::move(sources), path));
  invocation.out << text;
  return {};
}

std::string page_of(const storage::ComparisonRow& row) {
  return "/comparisons/" + std::to_string(row.id);
}

std::string page_of(const storage::BisectionRow& row) {
  return "/bisections/" + std::to_string(row.id);
}

void print_table(const Invocation& invocation, const terminal::Table& table) {
  if (invocation.markdown) {
    invocation.out << table.markdown();
  } else {
    table.print(invocation.out, invocation.screen);
  }
}

}  // namespace torchwatch::commands
