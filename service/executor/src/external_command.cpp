#include "torchwatch/executor/external_command.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <system_error>

namespace torchwatch::executor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kElf =
    "\x7f"
    "ELF";
constexpr std::size_t kFirstLineMax = 256;  // as much as the kernel reads

std::string begin_of(const fs::path& file) {
  std::string begin(kFirstLineMax, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  return begin;
}

/// The interpreter in the first line of a script; empty where the file is not one.
fs::path interpreter_of(const fs::path& program) {
  const auto begin = begin_of(program);
  if (!begin.starts_with("#!")) return {};
  // As the kernel reads it, to which only blanks and tabs end a word.
  constexpr auto kBlanks = " \t";
  const auto line = begin.substr(2, begin.find('\n') - 2);
  const auto first = line.find_first_not_of(kBlanks);
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_first_of(kBlanks, first) - first);
}

/// Whether an ELF file that begins so is for this processor. One of 32 bits may be, too.
bool is_for_this_processor(const std::string& begin) {
  const auto own = begin_of("/proc/self/exe");
  if (begin.size() < sizeof(Elf64_Ehdr) || own.size() < sizeof(Elf64_Ehdr)) return false;
  constexpr std::array<std::size_t, 4> kPlaces{EI_CLASS, EI_DATA, offsetof(Elf64_Ehdr, e_machine),
                                               offsetof(Elf64_Ehdr, e_machine) + 1};
  const auto is_same = [&](std::size_t place) { return begin[place] == own[place]; };
  return begin[EI_CLASS] == ELFCLASS32 || std::ranges::all_of(kPlaces, is_same);
}

bool is_executable(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

/// Which argument or `readable` of a command is a path to nothing.
std::string what_is_missing(const ExternalCommand& command) {
  const auto is_missing = [](const fs::path& path) {
    std::error_code ignored;
    return path.is_absolute() && !fs::exists(path, ignored);
  };
  const auto argument = std::ranges::find_if(command.words, is_missing);
  if (argument != command.words.end()) {
    return "argument " + *argument + " does not exist: correct its path";
  }
  const auto readable = std::ranges::find_if(command.readable, is_missing);
  if (readable == command.readable.end()) return {};
  return "`readable` names " + readable->string() + ", which does not exist: correct its path";
}

}  // namespace

std::string why_not_startable(const ExternalCommand& command) {
  if (command.words.empty()) return "the command is empty";
  const fs::path program = command.words.front();
  const auto told = "command " + program.string();
  std::error_code error;
  if (!fs::exists(program, error)) return told + " does not exist: correct its path";
  if (!is_executable(program)) {
    return told + " may not be executed: run chmod +x, or name its interpreter first";
  }
  const auto interpreter = interpreter_of(program);
  if (interpreter.empty()) {
    const auto begin = begin_of(program);
    if (begin.starts_with(kElf)) {
      return is_for_this_processor(begin)
                 ? ""
                 : told + " is a program for another processor: build it for this one";
    }
    return told + " is neither an ELF file nor a script: begin it with #! and its interpreter";
  }
  if (interpreter.string().ends_with('\r')) {
    return told + " has lines that end with CR LF: let them end with LF alone, as on Linux";
  }
  if (is_executable(interpreter)) return {};
  return told + " needs the interpreter " + interpreter.string() +
         ", which is missing: install it, or correct the file's first line";
}

std::string what_is_wrong(const ExternalCommand& command) {
  auto reason = why_not_startable(command);
  return reason.empty() ? what_is_missing(command) : reason;
}

void show_command(const ExternalCommand& command, const fs::path& tree, sandbox::Profile& profile) {
  profile.readable.push_back(tree);
  profile.linked.push_back(tree);
  for (const auto& word : command.words) {
    if (word.starts_with('/')) profile.readable.emplace_back(word);
  }
  if (command.words.empty()) return;
  if (auto interpreter = interpreter_of(command.words.front()); !interpreter.empty()) {
    profile.readable.push_back(std::move(interpreter));
  }
  profile.readable.insert(profile.readable.end(), command.readable.begin(), command.readable.end());
}

}  // namespace torchwatch::executor
