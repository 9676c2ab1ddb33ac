#include "whyformer/answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/prepare.h"
#include "base/pulse.h"
#include "readers/sample_batches.h"
#include "run/output_space.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Puts the answers of runs where they belong.
class AnswerSheet {
 public:
  AnswerSheet(Answered answered, size_t inputs, const AnswersRequest& request)
      : answered_(std::move(answered)), request_(request) {
    result.space = answered_.space;
    result.labels = answered_.labels;
    result.notes = answered_.notes;
    result.inputs.resize(inputs);
  }

  const RunKind& kind() const { return answered_.kind; }

  // `inputs` are the numbers of those that run together.
  void add(const FedGraph& together, std::span<const size_t> inputs) {
    const PulseScope pulses([this] { return goes_on(); });
    const Value output = together.graph->output;
    const std::vector<double> flat =
        run(together.graph->graph, together.feeds, {.outputs = {output}})[output].to_doubles();
    const auto width = static_cast<int64_t>(result.labels.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      Answer& answer = result.inputs[inputs[i]];
      const auto first = flat.begin() + static_cast<int64_t>(i) * width;
      answer.values.assign(first, first + width);
      if (result.space == "logit" && answered_.problem) {
        answer.probabilities = probabilities_of(answer.values, *answered_.problem);
      }
    }
    done_ += static_cast<int64_t>(inputs.size());
    if (!goes_on()) throw Interrupted();
  }

  Answers result;

 private:
  bool goes_on() const {
    return !request_.progress ||
           request_.progress(done_, static_cast<int64_t>(result.inputs.size()));
  }

  Answered answered_;
  const AnswersRequest& request_;
  int64_t done_ = 0;
};

Sample sample_of(const Reader& reader, const std::vector<InputValue>& inputs, size_t number,
                 const Question& question, AnswerSheet& sheet) {
  try {
    return reader.sample(inputs[number], question.dtype, sheet.result.inputs[number].notes);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("input {}: {}", number, error.what()));
  }
}

// Inputs that see each other run together, in the blocks that they were given in.
void add_blocks(const Reader& reader, const std::vector<InputValue>& inputs,
                const Question& question, AnswerSheet& sheet) {
  const auto block = static_cast<size_t>(reader.answer_block());
  for (size_t first = 0; first < inputs.size(); first += block) {
    std::vector<Sample> samples;
    std::vector<size_t> numbers;
    for (size_t i = first; i < std::min(inputs.size(), first + block); ++i) {
      numbers.push_back(i);
      samples.push_back(sample_of(reader, inputs, i, question, sheet));
    }
    sheet.add(reader.answer_source().fed(samples, sheet.kind()), numbers);
  }
}

}  // namespace

Answers answers(const Model& model, const std::vector<InputValue>& inputs,
                const AnswersRequest& request) {
  if (inputs.empty()) return {};
  const Reader& reader = model.reader_of(inputs[0]);
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_kind(reader, inputs[i], fmt::format("input {}", i));
  }
  const Question question{.similar_to = request.similar_to, .dtype = dtype_of(request.precision)};
  AnswerSheet sheet(reader.answered(inputs[0], question), inputs.size(), request);
  if (reader.answer_block() > 0) {
    add_blocks(reader, inputs, question, sheet);
    return std::move(sheet.result);
  }
  const int64_t most = reader.max_at_once(inputs[0]);
  SampleBatches batches(
      reader.answer_source(), sheet.kind(),
      [&](const ModelGraph& graph, int64_t tokens) {
        return std::min(most, most_inputs_at_once(graph, tokens, request.memory_bytes));
      },
      [&](const FedGraph& together, std::span<const size_t> numbers) {
        sheet.add(together, numbers);
      });
  for (size_t i = 0; i < inputs.size(); ++i)
    batches.add(i, sample_of(reader, inputs, i, question, sheet));
  batches.finish();
  return std::move(sheet.result);
}

}  // namespace whyformer
