#include "tests/support/sample_streams.h"

namespace whyformer::report {

Explanation documented_streams_sample() {
  Explanation explanation;
  explanation.model = {"translator.onnx", ""};
  explanation.text = "input_ids 0 = 5, input_ids 1 = 9, decoder_input_ids 0 = 2";
  explanation.units = {{"input_ids 0 = 5", 0, 15, false, 0, 0},
                       {"input_ids 1 = 9", 17, 32, false, 0, 1},
                       {"decoder_input_ids 0 = 2", 34, 57, false, 0, 2}};
  explanation.streams = {{"tokens of input_ids", 0, 2}, {"tokens of decoder_input_ids", 2, 1}};
  explanation.read_out = "last token of stream 1";
  explanation.output = {"value", {2.5}, {"logits[0,0,7]"}};
  explanation.target = {0, "logits[0,0,7]", 2.5, {}};
  Attribution attribution;
  attribution.method = "leave-one-out";
  attribution.scores = {0.25, -1.5, 0.75};
  attribution.words = {{"input_ids 0 = 5", 0, 15, 0.25, 0},
                       {"input_ids 1 = 9", 17, 32, -1.5, 0},
                       {"decoder_input_ids 0 = 2", 34, 57, 0.75, 0}};
  attribution.is_signed = true;
  attribution.cost = {4, 0, 0.01};
  explanation.attributions = {attribution};
  return explanation;
}

}  // namespace whyformer::report
