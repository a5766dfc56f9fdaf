#include "runner_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "torchwatch/protocol/request.hpp"

using namespace torchwatch;
using nlohmann::json;
namespace fs = std::filesystem;

Folder::Folder() {
  std::string name = fs::temp_directory_path() / "torchwatch-runner-XXXXXX";
  path_ = mkdtemp(name.data());
}

Folder::~Folder() {
  fs::remove_all(path_);
}

std::string content_of(const fs::path& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

Ended run_runner(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TORCHWATCH_RUNNER);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  const auto out = (folder / "output").string();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = -1;
  const int failed =
      posix_spawn(&child, TORCHWATCH_RUNNER, &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  REQUIRE(failed == 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(out)};
}

json request(const char* workload) {
  return {{"schema", 1},     {"attempt", "a1"}, {"workload", workload}, {"device", "cpu"},
          {"mode", "infer"}, {"warmup", 1},     {"iterations", 5},      {"leak_iterations", 20}};
}

protocol::RunResult measure(const json& wanted) {
  const Folder folder;
  std::ofstream(folder / "request.json") << wanted.dump();
  const auto ended =
      run_runner(folder, {"measure", folder / "request.json", folder / "result.json"});
  INFO(ended.output);
  REQUIRE(ended.status == 0);
  REQUIRE_FALSE(fs::exists(folder / "result.json.partial"));
  auto result = protocol::parse_result(content_of(folder / "result.json"), "a1");
  REQUIRE(result.has_value());
  const auto parsed = protocol::parse_request(wanted.dump()).value();
  REQUIRE(protocol::check_answers(parsed, *result).has_value());
  return *result;
}
