#include "torchwatch/records/asker.hpp"

namespace torchwatch {
namespace {

constexpr std::string_view kUser = "uid ";
constexpr std::string_view kToken = "token ";
constexpr std::string_view kWorkflow = "actions ";
constexpr std::string_view kGithub = "github ";

/// Whether one word of a name stands behind what says whose it is.
bool is_one(std::string_view kind, std::string_view text) {
  return text.starts_with(kind) && text.size() > kind.size() &&
         text.find(' ', kind.size()) == text.npos;
}

bool is_user(std::string_view text) {
  return is_one(kUser, text) && text.find_first_not_of("0123456789", kUser.size()) == text.npos;
}

}  // namespace

Asker github_user(std::string_view login) {
  return {.token = std::string(kGithub) + (login.empty() ? "?" : std::string(login))};
}

std::string name_of_workflow(std::string_view repository, std::string_view ref) {
  return std::string(kWorkflow) + std::string(repository) + "@" + std::string(ref);
}

std::string name_of_user(std::int64_t id) {
  return std::string(kUser) + std::to_string(id);
}

std::string to_string(const Asker& asker) {
  if (asker.user) return name_of_user(*asker.user);
  const bool is_named_whole =
      asker.token.empty() || asker.token.starts_with(kWorkflow) || asker.token.starts_with(kGithub);
  return is_named_whole ? asker.token : std::string(kToken) + asker.token;
}

std::string public_text(const std::string& asker) {
  if (is_user(asker)) return "somebody on the machine";
  if (is_one(kToken, asker)) return "somebody with a token";
  if (is_one(kWorkflow, asker)) return "a workflow";
  return asker;
}

}  // namespace torchwatch
