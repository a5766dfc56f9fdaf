#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "file_content.hpp"
#include "incident_rows.hpp"
#include "torchwatch/exports/exports.hpp"

using namespace torchwatch;
using Catch::Contains;
using exports::ExportFormat;

TEST_CASE_METHOD(IncidentRows, "evidence is exported as pictures and as what they show") {
  const auto out = folder.path() / "evidence";
  const auto files =
      exports::export_evidence(context, incident.id, {}, out, ExportFormat::csv).value();
  REQUIRE(files.size() == 6);
  CHECK_THAT(test::content_of(out / "samples-1.svg"),
             Catch::StartsWith("<svg ") && Contains("prefers-color-scheme: dark"));
  const auto csv = test::content_of(out / "samples-1.csv");
  CHECK_THAT(csv, Catch::StartsWith("run,build,stage,samples,median,least,greatest\r\n"));
  CHECK(std::ranges::count(csv, '\n') == 5);
  CHECK_THAT(test::content_of(out / "history.csv"), Contains("2.14.0.dev20260814"));
}

TEST_CASE_METHOD(IncidentRows, "evidence is exported as JSON lines with the headings as names") {
  const auto out = folder.path() / "evidence";
  REQUIRE(exports::export_evidence(context, incident.id, {}, out, ExportFormat::json_lines));
  std::istringstream lines(test::content_of(out / "samples-1.jsonl"));
  std::string first;
  std::getline(lines, first);
  CHECK(nlohmann::json::parse(first).at("build") == "baseline");
}

TEST_CASE_METHOD(IncidentRows, "an export of evidence replaces no folder") {
  const auto out = folder.path() / "evidence";
  std::filesystem::create_directory(out);
  std::ofstream(out / "mine") << "mine";
  const auto refused = exports::export_evidence(context, incident.id, {}, out, ExportFormat::csv);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid);
  CHECK(test::content_of(out / "mine") == "mine");
  CHECK(exports::export_evidence(context, 99, {}, folder.path() / "x", ExportFormat::csv)
            .error()
            .code == ErrorCode::not_found);
}
