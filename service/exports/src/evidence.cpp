#include <algorithm>
#include <sstream>

#include "row_writer.hpp"
#include "torchwatch/canvas/canvas.hpp"
#include "torchwatch/pictures/picture.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::exports {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// The rows of a drawing, with their headings as names.
Result<std::string> data_of(const drawing::Table& table, ExportFormat format) {
  std::ostringstream text;
  RowWriter writer(format, text);
  ordered_json like;
  for (const auto& name : table.head) like[name] = nullptr;
  for (const auto& cells : table.rows) {
    auto row = like;
    for (std::size_t i = 0; i < std::min(cells.size(), table.head.size()); ++i) {
      row[table.head[i]] = cells[i];
    }
    TW_TRY_VOID(writer.write(row));
  }
  TW_TRY_VOID(writer.finish(like));
  return text.str();
}

}  // namespace

Result<std::vector<fs::path>> export_evidence(const evidence::Context& context,
                                              storage::Id incident,
                                              const pictures::StepsOf& steps_of,
                                              const fs::path& folder, ExportFormat format) {
  TW_TRY(const auto row, storage::IncidentStore(context.database).get(incident));
  TW_TRY(const auto drawn, pictures::drawings_of(context, row, steps_of));
  std::error_code ignored;
  if (fs::exists(folder, ignored)) {
    return fail(ErrorCode::invalid,
                folder.string() + " exists already: choose another name, or remove it");
  }
  TW_TRY(auto partial, platform::PartialFolder::create(folder));
  std::vector<fs::path> files;
  const auto add = [&](const std::string& name, const std::string& bytes) -> Status {
    files.push_back(folder / name);
    return platform::publish_file(partial.path() / name, bytes);
  };
  const auto* const ending = format == ExportFormat::csv ? ".csv" : ".jsonl";
  for (const auto& each : drawn) {
    TW_TRY_VOID(add(each.name + ".svg", drawing::stand_alone(each.svg())));
    TW_TRY(const auto data, data_of(each.table, format));
    TW_TRY_VOID(add(each.name + ending, data));
  }
  TW_TRY_VOID(partial.publish());
  return files;
}

}  // namespace torchwatch::exports
