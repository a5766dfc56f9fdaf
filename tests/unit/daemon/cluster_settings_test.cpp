#include "torchwatch/daemon/cluster_settings.hpp"

#include <catch2/catch.hpp>

#include "torchwatch/config/classes.hpp"

using namespace torchwatch;
using namespace std::chrono_literals;

TEST_CASE("a look at a node of a class asks for what the lanes of that class ask for") {
  config::Config config;
  config.storage.path = "/state/db.sqlite";
  config.slurm.program = "/shared/torchwatch-carry";
  config::SlurmClass of{.name = "h100", .configurations = {{Device::cuda, Mode::train}}};
  of.partition = "gpu";
  of.constraint = "h100";
  of.gres = "gpu:1";
  of.account = "perf";
  of.options = {"--qos=low"};
  const auto look = daemon::settings_of_look(config, of, 30s);
  CHECK(look.options == std::vector<std::string>{"--qos=low", "--partition=gpu",
                                                 "--constraint=h100", "--gres=gpu:1",
                                                 "--account=perf", "--exclusive"});
  CHECK(look.queue_limit == 30s);
  CHECK(look.program == "/shared/torchwatch-carry");
  CHECK(look.name + "-" == daemon::job_prefix(config));
  of.exclusive = false;
  of.gres.clear();
  CHECK(daemon::settings_of_look(config, of, 30s).options ==
        std::vector<std::string>{"--qos=low", "--partition=gpu", "--constraint=h100",
                                 "--account=perf"});
}

TEST_CASE("without classes a look at a node asks for what [slurm] says") {
  config::Config config;
  config.slurm.constraint = "epyc9554";
  const auto classes = config::slurm_classes(config);
  REQUIRE(classes.size() == 1);
  CHECK(daemon::settings_of_look(config, classes.front(), 30s).options ==
        std::vector<std::string>{"--constraint=epyc9554", "--exclusive"});
}
