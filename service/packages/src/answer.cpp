#include "answer.hpp"

#include <nlohmann/json.hpp>

#include "torchwatch/platform/publish.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::packages {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kBytesMax = 64U << 10U;
constexpr std::size_t kReasonBytesMax = 1000;
constexpr std::int64_t kNanosecondsMax = 86'400'000'000'000;  // a day
constexpr std::int64_t kMemoryMax = std::int64_t{1} << 50;

std::string text_in(const json& answer, const char* name) {
  const auto found = answer.find(name);
  if (found == answer.end() || !found->is_string()) return {};
  return printable(found->get<std::string>().substr(0, kReasonBytesMax));
}

/// 0 where there is no such number.
std::int64_t number_in(const json& answer, const char* name, std::int64_t most) {
  const auto found = answer.find(name);
  if (found == answer.end() || !found->is_number_unsigned()) return 0;
  const auto number = found->get<std::uint64_t>();
  return number > static_cast<std::uint64_t>(most) ? 0 : static_cast<std::int64_t>(number);
}

tl::unexpected<Error> damaged(const fs::path& file, const char* what) {
  return fail(ErrorCode::corrupt, file.filename().string() + " " + what);
}

}  // namespace

Status write_answer(const fs::path& file, const Answer& answer) {
  const json object{{"status", answer.refusal ? "unsupported" : "ok"},
                    {"reason", answer.refusal.value_or("")},
                    {"compile_time", answer.compile_time_ns},
                    {"compile_peak", answer.compile_peak}};
  return platform::publish_file(file, object.dump());
}

Result<Answer> read_answer(const fs::path& file) {
  std::error_code error;
  const auto kind = fs::symlink_status(file, error);
  if (!fs::exists(kind)) return fail(ErrorCode::not_found, "there is no " + file.string());
  if (!fs::is_regular_file(kind)) return damaged(file, "is not a file");
  TW_TRY(const auto text, platform::read_foreign_file(file, kBytesMax));
  const auto object = json::parse(text, nullptr, false);
  if (!object.is_object()) return damaged(file, "is not a JSON object");
  const auto status = text_in(object, "status");
  const auto reason = text_in(object, "reason");
  Answer answer;
  if (status != "ok" && reason.empty()) return damaged(file, "is not ok and has no reason");
  if (status == "failed") {
    answer.failure = reason;
    return answer;
  }
  if (status == "unsupported") {
    answer.refusal = reason;
    answer.is_kept = object.value("keep", json(true)) != json(false);
    return answer;
  }
  if (status != "ok") return damaged(file, "has no status that is known");
  answer.compile_time_ns = number_in(object, "compile_time", kNanosecondsMax);
  answer.compile_peak = number_in(object, "compile_peak", kMemoryMax);
  return answer;
}

}  // namespace torchwatch::packages
