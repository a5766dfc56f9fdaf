#include "torchwatch/report/printed_output.hpp"

#include "stored_day.hpp"

using namespace torchwatch;

namespace {

storage::VerdictRow failed(const Benchmark& benchmark) {
  storage::VerdictRow row;
  row.series = {benchmark, Metric::time};
  row.verdict = Verdict::failed;
  row.reason = "exit status 2";
  return row;
}

}  // namespace

TEST_CASE("a benchmark that failed says what its process printed last") {
  test::StoredDay day;
  day.add_crash(test::kResnet, "Traceback\nModuleNotFoundError: no /srv/models/deep/net.py\n\n");
  const auto shown =
      report::with_printed_output(day.database(), day.comparison(),
                                  {failed(test::kResnet), failed(test::kLeaking.benchmark),
                                   test::slower(test::kResnet, 1.1)})
          .value();
  CHECK(shown[0].reason == "exit status 2; it printed: ModuleNotFoundError: no …/net.py");
  CHECK(shown[1].reason == "exit status 2");
  CHECK(shown[2].reason.empty());
}
