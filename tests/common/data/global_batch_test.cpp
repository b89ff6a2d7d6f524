#include "data/global_batch.h"

#include <cmath>
#include <numeric>
#include <string>

#include "base/check.h"
#include "data/stories.h"
#include "data/text_file.h"
#include "tests/common/data/scratch.h"
#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("a batch is its samples, one after another") {
  const Stories stories(3);
  for (const std::int64_t T : {1, 2, 37}) {
    const std::int64_t sequences = 3;
    const GlobalBatch batch = global_batch(stories, Split::train, 5, sequences, T);
    CHECK(batch.step == 5);
    CHECK(batch.first_sample == 15);
    CHECK(batch.sequences == sequences);
    CHECK(batch.T == T);
    const auto count = static_cast<std::size_t>(sequences * T);
    REQUIRE(batch.tokens_BT.size() == count);
    REQUIRE(batch.targets_BT.size() == count);
    REQUIRE(batch.positions_BT.size() == count);
    CHECK(batch.weights_BT == std::vector<double>(count, 1));
    CHECK(batch.valid_tokens() == static_cast<double>(count));

    double entropy = 0;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(T) + 1);
    std::vector<double> nats(static_cast<std::size_t>(T));
    for (std::size_t b = 0, i = 0; b < 3; ++b) {
      stories.sample(Split::train, 15 + b, bytes, nats);
      for (std::size_t t = 0; t < nats.size(); ++t, ++i) {
        CHECK(batch.tokens_BT[i] == bytes[t]);
        CHECK(batch.targets_BT[i] == bytes[t + 1]);
        CHECK(batch.positions_BT[i] == static_cast<std::int32_t>(t));
        entropy += nats[t];
      }
    }
    CHECK(batch.floor() == Approx(entropy / static_cast<double>(count)).epsilon(1e-14));
  }
}

TEST_CASE("steps follow one another without a gap, in any batch size") {
  const Stories stories(3);
  const GlobalBatch whole = global_batch(stories, Split::held_out, 1, 4, 16);
  const GlobalBatch half = global_batch(stories, Split::held_out, 3, 2, 16);
  CHECK(half.first_sample == whole.first_sample + 2);
  CHECK(std::equal(half.tokens_BT.begin(), half.tokens_BT.end(), whole.tokens_BT.begin() + 2 * 16));
}

TEST_CASE("masked targets do not count as valid") {
  GlobalBatch batch = global_batch(Stories(3), Split::train, 0, 2, 8);
  batch.weights_BT[3] = batch.weights_BT[11] = 0;
  CHECK(batch.valid_tokens() == 14);
  const double all = std::accumulate(batch.nats_BT.begin(), batch.nats_BT.end(), 0.0);
  CHECK(batch.floor() == Approx((all - batch.nats_BT[3] - batch.nats_BT[11]) / 14));
}

TEST_CASE("a file has no floor") {
  const Scratch scratch;
  const TextFile file(scratch.write("text", std::string(1000, 'a')), 8, 1);
  const GlobalBatch batch = global_batch(file, Split::train, 2, 4, 8);
  CHECK(std::isnan(batch.floor()));
  CHECK(batch.tokens_BT == std::vector<std::int32_t>(32, 'a'));
}

TEST_CASE("batches that cannot be") {
  const Stories stories(3);
  CHECK_THROWS_AS(global_batch(stories, Split::train, -1, 1, 1), Error);
  CHECK_THROWS_AS(global_batch(stories, Split::train, 0, 0, 1), Error);
  CHECK_THROWS_AS(global_batch(stories, Split::train, 0, 1, 0), Error);
}
