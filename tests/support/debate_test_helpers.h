// What the tests of the debate share.
#pragma once

#include <memory>
#include <string>

#include "studies/debate/debate_study.h"
#include "tests/support/token_reader.h"

namespace whyformer {

// One input of a case with everything that parts of the debate read.
class DebateCase {
 public:
  explicit DebateCase(const std::string& input, DType dtype = DType::kFloat64,
                      const ChangeWeights& change = {}, DebateRequest asked = {})
      : DebateCase(GoldenModel("bert", change), input, dtype, std::move(asked)) {}

  DebateCase(GoldenModel model, const std::string& input, DType dtype, DebateRequest asked = {})
      : golden(std::move(model)), request(std::move(asked)), value(TextInput{input, {}}) {
    Reading reading = reader.read(value, {.dtype = dtype});
    const Problem problem = *reading.answered.problem;
    explained = std::make_unique<Run>(std::move(reading.inputs[0]),
                                      Run::Settings{.problem = problem,
                                                    .needs = {.attention = true,
                                                              .attention_gradient = true,
                                                              .embedding_gradient = true,
                                                              .values = true}});
    const std::vector<double>& outputs = explained->outputs();
    explained->set_target(std::ranges::max_element(outputs) - outputs.begin());
    run = std::make_unique<DebateRun>(*explained, value, models, request, problem, 0);
  }

  GoldenModel golden;
  TokenReader reader{golden};
  DebateModels models{reader, {}, {}};
  DebateRequest request;
  InputValue value;
  std::unique_ptr<Run> explained;
  std::unique_ptr<DebateRun> run;
};

}  // namespace whyformer
