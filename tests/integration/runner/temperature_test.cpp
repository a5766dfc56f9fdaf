#include "torchwatch/runner/temperature.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "temporary_folder.hpp"

using torchwatch::runner::processor_temperature;
namespace fs = std::filesystem;

namespace {

/// A machine's sensors, as the kernel shows them.
struct Sensors {
  torchwatch::test::TemporaryFolder folder;

  void write(const fs::path& file, const char* text) const {
    const auto path = folder.path() / "sys/class" / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<std::int64_t> read() const { return processor_temperature(folder.path()); }
};

}  // namespace

TEST_CASE("a machine without sensors tells no temperature") {
  CHECK_FALSE(Sensors().read());
}

TEST_CASE("the hottest sensor of the processor counts, and no other one's") {
  const Sensors sensors;
  sensors.write("hwmon/hwmon0/name", "nvme\n");
  sensors.write("hwmon/hwmon0/temp1_input", "81000\n");
  CHECK_FALSE(sensors.read());
  sensors.write("hwmon/hwmon1/name", "coretemp\n");
  sensors.write("hwmon/hwmon1/temp1_input", "48000\n");
  sensors.write("hwmon/hwmon1/temp2_input", "52500\n");
  sensors.write("hwmon/hwmon1/temp2_max", "100000\n");
  CHECK(sensors.read() == 52'500);
  sensors.write("thermal/thermal_zone0/type", "acpitz\n");
  sensors.write("thermal/thermal_zone0/temp", "90000\n");
  CHECK(sensors.read() == 52'500);
  sensors.write("thermal/thermal_zone1/type", "x86_pkg_temp\n");
  sensors.write("thermal/thermal_zone1/temp", "55000\n");
  CHECK(sensors.read() == 55'000);
}

TEST_CASE("a broken sensor tells nothing") {
  const Sensors sensors;
  sensors.write("hwmon/hwmon0/name", "k10temp\n");
  sensors.write("hwmon/hwmon0/temp1_input", "-273150\n");
  sensors.write("hwmon/hwmon0/temp2_input", "none\n");
  CHECK_FALSE(sensors.read());
}
