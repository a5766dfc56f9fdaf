#include "torchwatch/report/build_files.hpp"

#include <algorithm>

#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/evidence_reader.hpp"

namespace torchwatch::report {

using nlohmann::json;

std::string_view word_of(const BuildFiles& files) {
  if (!files.were_there) return "";
  if (!files.are_there) return "gone";
  return files.are_pinned ? "pinned" : "there";
}

json json_of(const storage::BuildRow& build, const BuildFiles& files) {
  auto object = build_of_comparison(build);
  object.update({{"embedded_commit", text_or_null(build.embedded_commit)},
                 {"content_hash", text_or_null(build.content_hash)},
                 {"state", to_string(build.state)},
                 {"reason", text_or_null(build.reason)},
                 {"unusable", text_or_null(build.unusable)},
                 {"files", text_or_null(std::string(word_of(files)))},
                 {"bytes", files.bytes ? json(*files.bytes) : json(nullptr)},
                 {"last_used_at", time_of(files.last_used)}});
  return object;
}

Result<std::vector<BuildFiles>> files_of(storage::Database& database, const AskForFiles& ask,
                                         const std::vector<storage::BuildRow>& builds) {
  TW_TRY(const auto uses, storage::EvidenceReader(database).last_uses());
  std::vector<BuildFiles> all;
  for (const auto& build : builds) {
    auto& files = all.emplace_back(ask ? ask(build) : BuildFiles{});
    const auto use = uses.find(build.id);
    if (use != uses.end()) files.last_used = std::max(files.last_used, use->second);
  }
  return all;
}

}  // namespace torchwatch::report
