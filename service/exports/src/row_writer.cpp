#include "row_writer.hpp"

#include <ostream>

namespace torchwatch::exports {
namespace {

using nlohmann::ordered_json;

/// RFC 4180: quotes are doubled, and a cell that needs them stands in quotes.
std::string csv_cell(const ordered_json& value) {
  if (value.is_null()) return "";
  auto text = value.is_string()
                  ? value.get<std::string>()
                  : value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (auto at = text.find('"'); at != std::string::npos; at = text.find('"', at + 2)) {
    text.insert(at, 1, '"');
  }
  return '"' + text + '"';
}

template <typename Cell>
void write_line(std::ostream& out, const ordered_json& row, const Cell& cell) {
  const char* separator = "";
  for (const auto& item : row.items()) {
    out << separator << cell(item);
    separator = ",";
  }
  out << "\r\n";
}

}  // namespace

Status RowWriter::write(const ordered_json& row) {
  if (format_ == ExportFormat::json_lines) {
    out_ << row.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
  } else {
    write_heading(row);
    write_line(out_, row, [](const auto& item) { return csv_cell(item.value()); });
  }
  return status();
}

Status RowWriter::finish(const ordered_json& like) {
  if (format_ == ExportFormat::csv) write_heading(like);
  return status();
}

void RowWriter::write_heading(const ordered_json& row) {
  if (is_first_) write_line(out_, row, [](const auto& item) { return csv_cell(item.key()); });
  is_first_ = false;
}

Status RowWriter::status() const {
  if (out_.good()) return {};
  return fail(ErrorCode::unavailable,
              "the rows cannot be written: is the disk full, or the pipe closed?");
}

}  // namespace torchwatch::exports
