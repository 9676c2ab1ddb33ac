// Many inputs: those of equal shapes share forward runs and walks back.
#include <algorithm>

#include "api/explained_input.h"
#include "run/pulse_question.h"

namespace whyformer {
namespace {

class EachExplained {
 public:
  EachExplained(const Model& model, std::span<const InputValue> inputs,
                const ExplainRequest& request, const TakeExplanations& take)
      : model_(model),
        inputs_(inputs),
        request_(request),
        take_(take),
        needs_(needs_of(jobs_of(request.methods))) {}

  void run() {
    for (bool goes_on = true; goes_on && taken_ < inputs_.size();) {
      read_up_to(1);
      if (readings_.empty()) std::rethrow_exception(refusal_);
      read_up_to(most_together());
      const auto batch = batch_of_first();
      goes_on = take_first(batch == nullptr ? 1 : batch->size(), batch);
    }
  }

 private:
  // Fewer where one is refused, which those before it must not suffer from.
  void read_up_to(int64_t most) {
    while (static_cast<int64_t>(readings_.size()) < most && refusal_ == nullptr) {
      const size_t next = taken_ + readings_.size();
      if (next == inputs_.size()) return;
      try {
        readings_.push_back(read_for(model_.reader_of(inputs_[next]), inputs_[next], request_));
      } catch (...) {
        refusal_ = std::current_exception();
      }
    }
  }

  int64_t most_together() const {
    const std::vector<Input>& first = readings_[0].inputs;
    // A trust report runs each input again, changed; frozen values are each input's own.
    if (first.size() != 1 || request_.trust || !request_.edits.empty()) return 1;
    return RunBatch::most_together(first[0], needs_, request_.memory_bytes);
  }

  // Null where the first does not run with those behind it.
  std::shared_ptr<RunBatch> batch_of_first() const {
    std::vector<const Input*> inputs;
    for (const Reading& reading : readings_) {
      if (reading.inputs.size() != 1) break;
      inputs.push_back(&reading.inputs[0]);
    }
    return inputs.size() < 2 ? nullptr : RunBatch::of_first(inputs, needs_);
  }

  // False where the caller wants no more.
  bool take_first(int64_t count, const std::shared_ptr<RunBatch>& batch) {
    std::vector<std::unique_ptr<ExplainedInput>> all;
    for (int64_t number = 0; number < count; ++number) {
      const MakeRun in_batch = [&](Input input, Run::Settings settings) {
        return std::make_unique<Run>(std::move(input), std::move(settings), batch, number);
      };
      all.push_back(
          std::make_unique<ExplainedInput>(model_, std::move(readings_[number]), request_,
                                           request_.trust ? WholeRun::kYes : WholeRun::kNo,
                                           batch == nullptr ? MakeRun(run_by_itself) : in_batch));
      if (batch != nullptr) all.back()->choose_first_target();
    }
    readings_.erase(readings_.begin(), readings_.begin() + count);
    for (const auto& explained : all) {
      if (!take_(taken_, explanations_of(*explained, request_))) return false;
      ++taken_;
    }
    return true;
  }

  const Model& model_;
  std::span<const InputValue> inputs_;
  const ExplainRequest& request_;
  const TakeExplanations& take_;
  Needs needs_;
  std::vector<Reading> readings_;  // of inputs that were not taken yet
  std::exception_ptr refusal_;     // of the input behind them
  size_t taken_ = 0;
};

}  // namespace

void explain_each(const Model& model, std::span<const InputValue> inputs,
                  const ExplainRequest& request, const TakeExplanations& take) {
  const PulseScope pulses(pulse_question(request.progress));
  EachExplained(model, inputs, request, take).run();
}

}  // namespace whyformer
