// Catch2's main, with properties that are tried with the same cases in every run.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstdlib>

int main(int argc, char** argv) {
  // RC_PARAMS of the environment, or of a file of tests, wins.
  ::setenv("RC_PARAMS", "seed=20260101", 0);
  return Catch::Session().run(argc, argv);
}
