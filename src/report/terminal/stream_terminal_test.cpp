#include <gtest/gtest.h>

#include <limits>

#include "tests/support/sample_streams.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

TEST(StreamTerminal, ShowsTheScoresOfEachStreamOnItsOwnScale) {
  EXPECT_EQ(to_terminal(documented_streams_sample()),
            "logits[0,0,7] = 2.5000 of translator.onnx, read out: last token of stream 1\n"
            "\n"
            "leave-one-out: stream 0, tokens of input_ids\n"
            "  input_ids 1 = 9                -1.500000  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░\n"
            "  input_ids 0 = 5                 0.250000  █████\n"
            "\n"
            "leave-one-out: stream 1, tokens of decoder_input_ids\n"
            "  decoder_input_ids 0 = 2         0.750000  ██████████████████████████████\n");
}

TEST(StreamTerminal, PutsScoresThatAreNotANumberLast) {
  Explanation explanation = documented_streams_sample();
  explanation.attributions[0].scores[0] = std::numeric_limits<double>::quiet_NaN();
  explanation.attributions[0].scores[2] = 0;
  const std::string said = to_terminal(explanation);
  EXPECT_LT(said.find("input_ids 1 = 9"), said.find("input_ids 0 = 5"));
  EXPECT_NE(said.find("decoder_input_ids\n  no relevance\n"), std::string::npos);
}

TEST(StreamTerminal, RefusesStreamsBeyondTheUnits) {
  Explanation explanation = documented_streams_sample();
  explanation.streams[1].count = 2;
  EXPECT_THROW(to_terminal(explanation), InvalidInput);
}

}  // namespace
}  // namespace whyformer::report
