#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "torchwatch/values/value_format.hpp"

namespace torchwatch::config {

/// The allowed values of a type, in words and as a check.
template <typename T>
struct Allowed {
  std::string words;
  std::function<bool(const T&)> holds = [](const T&) { return true; };
};

template <typename T>
std::string spoken(const T& value) {
  std::string text = write(value);
  std::erase(text, '"');
  return text;
}

template <typename T>
Allowed<T> between(T least, T greatest) {
  return {spoken(least) + " to " + spoken(greatest),
          [=](const T& value) { return least <= value && value <= greatest; }};
}

/// A share, which people tend to write in per cent.
inline Allowed<double> share_between(double least, double greatest) {
  auto allowed = between(least, greatest);
  allowed.words += " (7 % is 0.07)";
  return allowed;
}

template <typename T>
Allowed<T> filled() {
  return {"non-empty", [](const T& value) { return !value.empty(); }};
}

template <typename T>
Allowed<T> words_of(std::string words) {
  return {std::move(words), [](const T&) { return true; }};  // reading already refuses others
}

/// Whether no element occurs twice: a benchmark measured twice would be stored twice.
template <typename T>
bool is_distinct(std::vector<T> list) {
  std::sort(list.begin(), list.end());
  return std::adjacent_find(list.begin(), list.end()) == list.end();
}

inline Allowed<std::vector<std::string>> distinct(std::string words) {
  return {std::move(words), [](const std::vector<std::string>& list) {
            return is_distinct(list) && std::find(list.begin(), list.end(), "") == list.end();
          }};
}

/// Lists of addresses of hosts; of origins of pages; of paths.
Allowed<std::vector<std::string>> ip_addresses();
Allowed<std::vector<std::string>> origins();
Allowed<std::vector<std::filesystem::path>> paths();

/// "owner/name", or empty.
Allowed<std::string> owner_and_name();
/// Logins and teams, which stand in an issue as live mentions.
Allowed<std::vector<std::string>> logins();
/// Logins alone: nobody else can be assigned an issue.
Allowed<std::vector<std::string>> users();
/// Roles in a repository; numbers of users.
Allowed<std::vector<std::string>> roles();
Allowed<std::vector<std::string>> numeric_ids();
/// What a command in a comment begins with: "/", "/tw-", "@torchwatch ".
Allowed<std::string> command_prefix();
Allowed<std::string> http_address();
/// The same, or empty.
Allowed<std::string> http_address_or_none();
/// A label of a version ("cpu", "cu130"); a date or a version to begin with. Both may be empty.
Allowed<std::string> version_label();
Allowed<std::string> date_or_version();
/// https, or http to this machine: what is sent there is not for others to read.
Allowed<std::string> private_address();
/// A name that becomes part of keys; an address that becomes part of a mail's head; some of those.
Allowed<std::string> plain_name();
Allowed<std::string> mail_address();
Allowed<std::vector<std::string>> mail_addresses();
/// Events that others get notices of, each once.
Allowed<std::vector<std::string>> events();
/// Where builds of commits lie, with {commit} in it, or empty.
Allowed<std::string> template_of_commits();

}  // namespace torchwatch::config
