#include "tables.hpp"

namespace torchwatch::config {
namespace {

/// A claim is compared letter by letter, so it is what a token can hold.
Allowed<std::string> claim(std::string words) {
  return {std::move(words), [](const std::string& text) {
            constexpr std::size_t kBytesMax = 500;
            return !text.empty() && text.size() <= kBytesMax &&
                   std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
          }};
}

Allowed<std::string> number() {
  return {"the number of a repository, in quotes", [](const std::string& text) {
            return !text.empty() && text.size() <= 20 &&
                   text.find_first_not_of("0123456789") == std::string::npos;
          }};
}

/// What tokens, builds and the database are for is left to people.
Allowed<Scopes> scopes_of_workflows() {
  return {"read, triage, measure, each once",
          [](const Scopes& scopes) { return !scopes.empty() && !scopes.contains(Scope::admin); }};
}

bool is_alike(const TrustedWorkflow& one, const TrustedWorkflow& other) {
  return one.issuer == other.issuer && one.audience == other.audience &&
         one.repository_id == other.repository_id && one.ref == other.ref &&
         one.job_workflow_ref == other.job_workflow_ref;
}

}  // namespace

Status read(const toml::node& node, Scopes& scopes) {
  std::vector<std::string> words;
  TW_TRY_VOID(read(node, words));
  for (const auto& word : words) {
    TW_TRY(const auto scope, parse_word<Scope>(word));
    if (!scopes.insert(scope).second) {
      return fail(ErrorCode::invalid, "\"" + word + "\" is there twice");
    }
  }
  return {};
}

std::string write(const Scopes& scopes) {
  std::vector<std::string> words;
  for (const auto scope : scopes) words.emplace_back(to_string(scope));
  return write(words);
}

void add_oidc(std::vector<Key>& table) {
  using C = Config;
  using Workflow = TrustedWorkflow;
  const Fields<Workflow> fields{
      field("issuer", &Workflow::issuer, private_address(), Need::optional),
      field("audience", &Workflow::audience, claim("1 to 500 letters without blanks"),
            Need::optional),
      field("repository_id", &Workflow::repository_id, number()),
      field("ref", &Workflow::ref, claim("such as refs/heads/main")),
      field("job_workflow_ref", &Workflow::job_workflow_ref,
            claim("such as owner/name/.github/workflows/nightly.yml@refs/heads/main")),
      field("scopes", &Workflow::scopes, scopes_of_workflows())};
  table.push_back(list_of_tables(
      "web", "oidc", &C::web, &C::Web::oidc, fields,
      "Workflows of GitHub Actions that may sign in without a secret. All of an entry must be what "
      "the job's token says: left out, issuer is GitHub's and audience is public_address.",
      {.is_alike = is_alike}));
}

}  // namespace torchwatch::config
