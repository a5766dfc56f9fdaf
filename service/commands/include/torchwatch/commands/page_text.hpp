#pragma once

#include <string>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::commands {

/// Prints the text of a page, "/comparisons/7", as its address with `.md` shows it. Errors: those
/// of the page.
Status print_page(const Invocation&, const config::Config&, storage::Database&,
                  const std::string& path);

std::string page_of(const storage::ComparisonRow&);
std::string page_of(const storage::BisectionRow&);

/// Prints a table as --format says: for the terminal, or as Markdown.
void print_table(const Invocation&, const terminal::Table&);

}  // namespace torchwatch::commands
