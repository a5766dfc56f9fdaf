// What `torchwatch check` found, on terminals of several widths.
#include <catch2/catch.hpp>
#include <sstream>

#include "golden.hpp"
#include "torchwatch/measuring/checked.hpp"

using namespace torchwatch;
using Catch::Contains;

TEST_CASE("a finding of check and its remedy are whole at each width") {
  measuring::Checked checked;
  checked.table.add({"good", "compiler", "g++ 12.2.0", ""});
  checked.table.add({"warning", "cpu governor", "powersave on 16 of 16 cores",
                     "`cpupower frequency-set -g performance`, or [executor] cores without them"});
  checked.table.add({"error", "disk", "2 GiB free at /var/lib/torchwatch/state",
                     "free 10 GiB, or move [storage] path and [build] cache"});
  checked.table.add({"error", "[github] token", "it may not see owner/name",
                     "put a token with the permission Issues: read and write into "
                     "/etc/torchwatch/github-token, chmod 600"});
  for (const int columns : {60, 80, 100, 200}) {
    std::ostringstream out;
    checked.table.print(out, {.columns = columns});
    CHECK_THAT(out.str(), !Contains("…"));
    require_golden("check_" + std::to_string(columns) + ".txt", out.str());
  }
}
