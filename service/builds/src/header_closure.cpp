#include "header_closure.hpp"

#include <algorithm>

#include "file_hashes.hpp"
#include "tool_run.hpp"
#include "torchwatch/builds/sha256.hpp"
#include "torchwatch/doors/publish.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRuleBytesMax = 16U << 20U;
constexpr std::size_t kOutputBytesMax = 1U << 20U;
constexpr const char* kRuleFile = "closure.d";

bool is_version_header(const std::string& path) {
  return path.starts_with(std::string(kTreeLink) + "/") && fs::path(path).filename() == "version.h";
}

}  // namespace

std::vector<std::string> parse_dependencies(const std::string& rule) {
  std::vector<std::string> files;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) files.push_back(std::move(word));
    word.clear();
  };
  const auto begin = std::min(rule.find(':'), rule.size());
  for (std::size_t i = begin + 1; i < rule.size(); ++i) {
    const char c = rule[i];
    const char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      end_word();
      ++i;
    } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == ' ' || c == '\n') {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return files;
}

Result<std::string> hash_of_closure(const fs::path& folder, const KitPlan& plan,
                                    std::chrono::seconds time_limit,
                                    doors::ProcessRunner& processes, std::stop_token stop) {
  auto arguments = compile_flags(plan);
  for (const char* word : {"-M", "-MF", kRuleFile, kClosureSource}) arguments.emplace_back(word);
  TW_TRY_VOID(run_tool({.program = "g++",
                        .arguments = std::move(arguments),
                        .folder = folder,
                        .time_limit = time_limit,
                        .output_limit_bytes = kOutputBytesMax},
                       processes, std::move(stop)));
  TW_TRY(const std::string rule, doors::read_file(folder / kRuleFile, kRuleBytesMax));
  auto files = parse_dependencies(rule);
  std::ranges::sort(files);
  Sha256 hash;
  for (const auto& file : files) {
    if (is_version_header(file)) continue;
    TW_TRY(const std::string content, process_file_hashes().of(folder / file));
    hash.add_field(file);
    hash.add_field(content);
  }
  return hash.hex();
}

}  // namespace torchwatch::builds
