#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/protocol/result.hpp"

/// A folder of its own for each test, removed at the end.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string content_of(const std::filesystem::path&);

struct Ended {
  int status = -1;
  std::string output;
};

/// Runs the real binary as a child; it has nothing to read.
Ended run_runner(const Folder&, std::vector<std::string> arguments);

/// A short timing pass of inference.
nlohmann::json request(const char* workload = "soft_actor_critic");

/// Measures with the real binary and reads the result as the service would.
torchwatch::protocol::RunResult measure(const nlohmann::json& wanted);
