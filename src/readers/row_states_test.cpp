#include "readers/row_states.h"

#include <gmock/gmock.h>

#include <bit>

#include "readers/row_part.h"
#include "tests/support/golden_table.h"

namespace whyformer {
namespace {

// The rows of a golden model: one to explain, the others its background.
struct StatesCase {
  explicit StatesCase(const std::string& name) : golden(name), source(golden.source()) {
    places = source->columns(*source->column_count());
    for (const Sample& sample : golden.samples(DType::kFloat64)) {
      rows.emplace_back();
      for (const TableColumn& place : places)
        rows.back().push_back(sample.at(place.input).to_doubles()[place.index]);
    }
  }

  RowPart part() const {
    PlacedRow row{.named = true, .values = rows[0]};
    for (size_t place = 0; place < places.size(); ++place) {
      row.columns.push_back(
          {.name = std::to_string(place), .places = {static_cast<int64_t>(place)}});
    }
    row.background = {.rows = static_cast<int64_t>(rows.size()) - 1,
                      .columns = static_cast<int64_t>(places.size())};
    for (size_t other = 1; other < rows.size(); ++other) {
      row.background.values.insert(row.background.values.end(), rows[other].begin(),
                                   rows[other].end());
    }
    return RowPart(source, places, row, {.head = source->own_head()});
  }

  // So many rows whose cells are those of any.
  std::vector<Variant> mixed(size_t count) const {
    std::vector<Variant> variants;
    uint64_t state = 1;
    for (size_t i = 0; i < count; ++i) {
      variants.push_back({0});
      for (size_t place = 0; place < places.size(); ++place) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        variants.back().push_back(std::bit_cast<int64_t>(rows[(state >> 33) % rows.size()][place]));
      }
    }
    return variants;
  }

  GoldenTable golden;
  std::shared_ptr<const RowSource> source;
  std::vector<TableColumn> places;
  RowStates::Rows rows;
};

std::vector<double> answers_of_variants(const RowPart& part, std::span<const Variant> variants) {
  const FedGraph fed = part.run_of(variants);
  const Value output = fed.graph->output;
  return run(fed.graph->graph, fed.feeds, {.outputs = {output}})[output].to_doubles();
}

size_t values_fed(const RowPart& part, std::span<const Variant> variants) {
  const FedGraph fed = part.run_of(variants);
  return fed.feeds.size() - fed.graph->graph.inputs().size();
}

TEST(RowStates, GiveTheSameBitsAsRunningEachRowForEveryFamily) {
  int64_t helped = 0;
  for (const std::string& name : golden_tables()) {
    const StatesCase table(name);
    const RowPart part = table.part();
    const std::vector<Variant> variants = table.mixed(64);
    helped += values_fed(part, variants) > 0;
    const std::vector<double> together = answers_of_variants(part, variants);
    const size_t width = together.size() / variants.size();
    for (size_t i = 0; i < variants.size(); ++i) {
      const std::vector<double> own(together.begin() + i * width,
                                    together.begin() + (i + 1) * width);
      EXPECT_EQ(answers_of_variants(part, {&variants[i], 1}), own) << name << ", row " << i;
    }
  }
  EXPECT_GT(helped, 10);
}

TEST(RowStates, AreEmbeddingsAndTheFirstBlocksQueriesKeysAndValues) {
  const StatesCase table("rtdl-revisiting.mixed");
  const RowPart part = table.part();
  EXPECT_EQ(values_fed(part, table.mixed(64)), 4u);
  EXPECT_EQ(values_fed(part, table.mixed(3)), 0u);  // too few to gain
}

TEST(RowStates, LearnCellsThatComeLater) {
  const StatesCase table("rtdl-revisiting.mixed");
  const RowPart part = table.part(), other = table.part();
  std::vector<Variant> variants = table.mixed(64);
  EXPECT_EQ(values_fed(part, variants), 4u);
  for (Variant& variant : variants) variant[1] = std::bit_cast<int64_t>(0.625);
  EXPECT_EQ(values_fed(part, variants), 4u);
  EXPECT_EQ(answers_of_variants(part, variants), answers_of_variants(other, variants));
  // Every row has a number of its own: picking would save nothing.
  for (size_t i = 0; i < variants.size(); ++i)
    variants[i][1] = std::bit_cast<int64_t>(static_cast<double>(i));
  EXPECT_EQ(values_fed(part, variants), 0u);
}

// The second place is no token's: it may change any.
TEST(RowStates, TellRowsApartByNumbersThatNoTokenWasFoundFor) {
  const StatesCase table("rtdl-revisiting.mixed");
  const FedGraph fed = table.part().run_of(table.mixed(1));
  const auto found = places_of_tokens(*fed.graph, table.places, {{}, {0}, {2}, {3}, {4}, {5}});
  EXPECT_THAT(found, testing::ElementsAre(testing::ElementsAre(1), testing::ElementsAre(0, 1),
                                          testing::ElementsAre(2, 1), testing::ElementsAre(3, 1),
                                          testing::ElementsAre(4, 1), testing::ElementsAre(5, 1)));
}

// Numbers of a TabTransformer go past its attention.
TEST(RowStates, LeaveOutNumbersThatReachNoToken) {
  const StatesCase table("lucid-tab.0.3.0.mixed");
  const FedGraph fed = table.part().run_of(table.mixed(1));
  std::vector<std::vector<int64_t>> own;
  for (size_t place = 0; place < table.places.size(); ++place) {
    if (table.places[place].input == "x_cat") own.push_back({static_cast<int64_t>(place)});
  }
  EXPECT_EQ(places_of_tokens(*fed.graph, table.places, own), own);
}

}  // namespace
}  // namespace whyformer
