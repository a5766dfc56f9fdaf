#include <catch2/catch.hpp>
#include <cmath>

#include "information.hpp"
#include "robust_estimate.hpp"

using namespace torchwatch::bisect;

TEST_CASE("a centre is little moved by a disturbed sample") {
  const std::vector<double> samples{1.00, 1.02, 0.98, 1.01, 0.99, 3.0};
  const Estimate estimate = centre_of(samples, 0.02);
  REQUIRE(estimate.centre == Approx(1.0).margin(0.005));
  REQUIRE(estimate.count == 6);
}

TEST_CASE("exact samples have an exact centre") {
  const Estimate estimate = centre_of({64, 64, 64}, 0);
  REQUIRE(estimate.centre == 64);
  REQUIRE(estimate.error == 0);
  REQUIRE(centre_of({}, 1).count == 0);
}

TEST_CASE("a standard error falls with the root of the number of samples") {
  const double one = centre_of({0}, 1).error;
  REQUIRE(centre_of({0, 0, 0, 0}, 1).error == Approx(one / 2));
}

TEST_CASE("what is measured outgrows what was expected of the noise") {
  const std::vector<double> samples{-1, 1, -1.2, 0.8, -0.9, 1.1, -1, 1.2, -1.1, 0.9};
  double freedom = 0;
  REQUIRE(pooled_scale({}, 0.5, 4, freedom) == Approx(0.5));
  REQUIRE(freedom == 4);
  const double low = pooled_scale({&samples}, 0.01, 4, freedom);
  REQUIRE(freedom == 13);
  REQUIRE(low > 0.4);
  REQUIRE(pooled_scale({&samples, &samples, &samples}, 0.01, 4, freedom) > low);
}

TEST_CASE("exact groups have no scale, each about its own centre") {
  const std::vector<double> some{3, 3, 3};
  const std::vector<double> others{7, 7};
  double freedom = 0;
  REQUIRE(pooled_scale({&some, &others}, 0, 4, freedom) == 0);
}

TEST_CASE(
    "a reading far apart tells the whole of an even question, a reading at one spot nothing") {
  REQUIRE(information(0.5, 20) == Approx(1).margin(1e-6));
  REQUIRE(information(0.5, 0) == Approx(0).margin(1e-12));
  REQUIRE(information(0, 5) == 0);
  REQUIRE(information(1, 5) == 0);
  // 0.4859 bits: capacity of binary input over a normal channel at 0 dB, from the literature.
  REQUIRE(information(0.5, 2) == Approx(0.4859).margin(0.001));
}

TEST_CASE("information grows with separation and is the same for a question and its opposite") {
  double before = 0;
  for (double separation = 0.25; separation < 8; separation += 0.25) {
    const double bits = information(0.3, separation);
    REQUIRE(bits > before);
    REQUIRE(bits == Approx(information(0.7, separation)));
    before = bits;
  }
}

TEST_CASE("a certain answer tells all there is to know, which no reading exceeds") {
  REQUIRE(entropy(0.5) == Approx(1));
  REQUIRE(entropy(0) == 0);
  REQUIRE(entropy(1) == 0);
  for (const double probability : {1e-9, 0.001, 0.1, 0.5, 0.8, 0.9999}) {
    for (const double separation : {0.1, 1.0, 4.0, 40.0}) {
      REQUIRE(information(probability, separation) <= entropy(probability));
    }
    REQUIRE(information(probability, 40) == entropy(probability));
  }
}
