#include <catch2/catch.hpp>

#include "torchwatch/nightly/batch_choice.hpp"

using namespace torchwatch;
using namespace torchwatch::nightly;

namespace {

Cell cell_of(const char* workload, Mode mode, int batch = 0) {
  return {workload, {Device::cpu, mode}, {Precision::fp32, Backend::eager, batch, 0}};
}

std::string error_of(const char* text) {
  const auto table = parse_batch_table(text, Preset::small);
  REQUIRE_FALSE(table.has_value());
  return table.error().message;
}

}  // namespace

TEST_CASE("a table read back gives inference its batch and leaves everything else") {
  const BatchChoice chosen{cell_of("resnet18", Mode::infer), 16, {}, ""};
  const BatchChoice fixed{cell_of("drq", Mode::infer), 0, {}, ""};
  const auto table = parse_batch_table(to_json(Preset::small, {chosen, fixed}), Preset::small);
  REQUIRE(table.value().size() == 1);

  const auto batch_after = [&](Cell cell) {
    apply(*table, cell);
    return cell.variant.batch;
  };
  CHECK(batch_after(cell_of("resnet18", Mode::infer)) == 16);
  CHECK(batch_after(cell_of("resnet18", Mode::infer, 2)) == 2);
  CHECK(batch_after(cell_of("resnet18", Mode::train)) == 0);
  CHECK(batch_after(cell_of("drq", Mode::infer)) == 0);
}

TEST_CASE("a table that is none says what is wrong and how to get one") {
  CHECK(error_of("not json").find("no object \"batches\"") != std::string::npos);
  CHECK(error_of(R"({"preset": "paper", "batches": {}})").find("preset small") !=
        std::string::npos);
  CHECK(error_of(R"({"preset": "small", "batches": {"a cpu": 0}})").find("\"a cpu\" is 0") !=
        std::string::npos);
  CHECK(error_of("[]").find("torchwatch batches --out") != std::string::npos);
}
