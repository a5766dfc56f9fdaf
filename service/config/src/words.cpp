#include "words.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "torchwatch/values/value_format.hpp"

namespace torchwatch::config {
namespace {

template <typename Enum>
using Word = std::pair<Enum, std::string_view>;

constexpr std::array kChannelKinds{Word<ChannelKind>{ChannelKind::directory, "directory"},
                                   Word<ChannelKind>{ChannelKind::wheel_index, "wheel-index"},
                                   Word<ChannelKind>{ChannelKind::archive, "archive"}};
constexpr std::array kReaders{Word<AnonymousRead>{AnonymousRead::loopback, "loopback"},
                              Word<AnonymousRead>{AnonymousRead::never, "never"},
                              Word<AnonymousRead>{AnonymousRead::always, "always"}};
constexpr std::array kSandboxKinds{Word<SandboxKind>{SandboxKind::automatic, "auto"},
                                   Word<SandboxKind>{SandboxKind::bubblewrap, "bubblewrap"},
                                   Word<SandboxKind>{SandboxKind::none, "none"}};
constexpr std::array kTimes{Word<FileWhen>{FileWhen::searched, "searched"},
                            Word<FileWhen>{FileWhen::named, "named"},
                            Word<FileWhen>{FileWhen::at_once, "at_once"}};
constexpr std::array kExecutorKinds{Word<ExecutorKind>{ExecutorKind::local, "local"},
                                    Word<ExecutorKind>{ExecutorKind::slurm, "slurm"}};

template <typename Words, typename Enum>
Status read_word(const toml::node& node, const Words& words, Enum& value) {
  std::string text;
  TW_TRY_VOID(read(node, text));
  const auto found = std::ranges::find(words, text, &Word<Enum>::second);
  if (found != words.end()) {
    value = found->first;
    return {};
  }
  std::string allowed;
  for (const auto& [_, word] : words) allowed += (allowed.empty() ? "" : ", ") + std::string(word);
  return fail(ErrorCode::invalid,
              "invalid value " + write(text) + ": must be one of " + std::move(allowed));
}

template <typename Words, typename Enum>
std::string write_word(const Words& words, Enum value) {
  return write(std::string(std::ranges::find(words, value, &Word<Enum>::first)->second));
}

}  // namespace

std::string type_of(ChannelKind) {
  return "word";
}
Status read(const toml::node& node, ChannelKind& value) {
  return read_word(node, kChannelKinds, value);
}
std::string write(ChannelKind value) {
  return write_word(kChannelKinds, value);
}

std::string type_of(AnonymousRead) {
  return "word";
}
Status read(const toml::node& node, AnonymousRead& value) {
  return read_word(node, kReaders, value);
}
std::string write(AnonymousRead value) {
  return write_word(kReaders, value);
}

std::string type_of(SandboxKind) {
  return "word";
}
Status read(const toml::node& node, SandboxKind& value) {
  return read_word(node, kSandboxKinds, value);
}
std::string write(SandboxKind value) {
  return write_word(kSandboxKinds, value);
}

std::string type_of(FileWhen) {
  return "word";
}
Status read(const toml::node& node, FileWhen& value) {
  return read_word(node, kTimes, value);
}
std::string write(FileWhen value) {
  return write_word(kTimes, value);
}

std::string type_of(ExecutorKind) {
  return "word";
}
Status read(const toml::node& node, ExecutorKind& value) {
  return read_word(node, kExecutorKinds, value);
}
std::string write(ExecutorKind value) {
  return write_word(kExecutorKinds, value);
}

std::string type_of(const std::vector<SeriesThreshold>&) {
  return "list of thresholds";
}
Status read(const toml::node& node, std::vector<SeriesThreshold>& value) {
  TW_TRY(const auto words,
         read_strings(node, R"(a list of thresholds: ["cpu_peak 0.03", "time resnet18 0.1"])"));
  return read_each(words, parse_series_threshold, value);
}
std::string write(const std::vector<SeriesThreshold>& value) {
  std::vector<std::string> words;
  for (const auto& rule : value) words.push_back(to_string(rule));
  return write(words);
}

}  // namespace torchwatch::config
