#pragma once

#include <toml++/toml.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/log/log.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::config {

// For each type of a member: its name, reading it from TOML, writing it back. Errors say what was
// found and how a value is written; the caller puts file, line and key in front.

std::string type_of(const std::string&);
std::string type_of(const std::filesystem::path&);
std::string type_of(int);
std::string type_of(double);
std::string type_of(bool);
std::string type_of(std::int64_t);  ///< every 64-bit member is a size in bytes
std::string type_of(std::chrono::seconds);
std::string type_of(std::chrono::milliseconds);
std::string type_of(const std::vector<std::filesystem::path>&);
std::string type_of(Preset);
std::string type_of(log::Level);
std::string type_of(log::Format);
std::string type_of(const std::vector<std::string>&);
std::string type_of(const std::vector<Configuration>&);
std::string type_of(const std::vector<Variant>&);

Status read(const toml::node&, std::string&);
Status read(const toml::node&, std::filesystem::path&);
Status read(const toml::node&, int&);
Status read(const toml::node&, double&);
Status read(const toml::node&, bool&);
Status read(const toml::node&, std::int64_t&);
Status read(const toml::node&, std::chrono::seconds&);
Status read(const toml::node&, std::chrono::milliseconds&);
Status read(const toml::node&, std::vector<std::filesystem::path>&);
Status read(const toml::node&, Preset&);
Status read(const toml::node&, log::Level&);
Status read(const toml::node&, log::Format&);
Status read(const toml::node&, std::vector<std::string>&);
Status read(const toml::node&, std::vector<Configuration>&);
Status read(const toml::node&, std::vector<Variant>&);
Status read(const toml::node&, Device&);
Status read(const toml::node&, std::vector<Mode>&);
Status read(const toml::node&, std::vector<Metric>&);

/// Reads a list of strings. Errors: invalid, with what is wanted: "a list of paths: [...]".
Result<std::vector<std::string>> read_strings(const toml::node&, std::string_view wanted);

/// Reads each of a list's words. Errors: of `parse`, for the first word that it refuses.
template <typename T>
Status read_each(const std::vector<std::string>& words, Result<T> (*parse)(std::string_view),
                 std::vector<T>& value) {
  value.clear();
  for (const auto& word : words) {
    TW_TRY(const auto element, parse(word));
    value.push_back(element);
  }
  return {};
}

std::string write(const std::string&);
std::string write(const std::filesystem::path&);
std::string write(int);
std::string write(double);
std::string write(bool);
std::string write(std::int64_t);
std::string write(std::chrono::seconds);
std::string write(std::chrono::milliseconds);
std::string write(const std::vector<std::filesystem::path>&);
std::string write(Preset);
std::string write(log::Level);
std::string write(log::Format);
std::string write(const std::vector<std::string>&);
std::string write(const std::vector<Configuration>&);
std::string write(const std::vector<Variant>&);
std::string write(Device);
std::string write(const std::vector<Mode>&);
std::string write(const std::vector<Metric>&);

}  // namespace torchwatch::config
