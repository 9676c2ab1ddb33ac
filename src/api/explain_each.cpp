// Many inputs: those of equal shapes share forward runs and walks back.
#include <algorithm>
#include <utility>

#include "api/explained_input.h"
#include "run/pulse_question.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

class EachExplained {
 public:
  EachExplained(const Model& model, std::span<const InputValue> inputs,
                const ExplainRequest& request, const TakeExplanations& take,
                const TakeRefusal& refused)
      : model_(model),
        inputs_(inputs),
        request_(request),
        take_(take),
        refused_(refused),
        needs_(needs_of(jobs_of(request.methods))) {}

  void run() {
    for (bool goes_on = true; goes_on && taken_ < inputs_.size();) {
      read_up_to(1);
      if (readings_.empty()) {
        goes_on = refuse(std::exchange(refusal_, nullptr));
        continue;
      }
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

  // False where the caller wants no more. All of a batch tell their targets before one of them asks
  // for gradients.
  bool take_first(int64_t count, const std::shared_ptr<RunBatch>& batch) {
    std::vector<Started> all;
    for (int64_t number = 0; number < count; ++number)
      all.push_back(started(std::move(readings_[number]), number, batch));
    readings_.erase(readings_.begin(), readings_.begin() + count);
    for (Started& one : all) {
      if (!take(one)) return false;
    }
    return true;
  }

  // An input whose run has begun, or why it has none.
  struct Started {
    std::unique_ptr<ExplainedInput> input;
    std::exception_ptr refusal;
  };

  Started started(Reading reading, int64_t number, const std::shared_ptr<RunBatch>& batch) const {
    const MakeRun in_batch = [&](Input input, Run::Settings settings) {
      return std::make_unique<Run>(std::move(input), std::move(settings), batch, number);
    };
    try {
      auto input = std::make_unique<ExplainedInput>(
          model_, std::move(reading), request_, request_.trust ? WholeRun::kYes : WholeRun::kNo,
          batch == nullptr ? MakeRun(run_by_itself) : in_batch);
      if (batch != nullptr) input->choose_first_target();
      return {std::move(input), nullptr};
    } catch (...) {
      return {nullptr, std::current_exception()};
    }
  }

  bool take(Started& one) {
    if (one.refusal != nullptr) return refuse(one.refusal);
    std::vector<Explanation> explanations;
    try {
      explanations = explanations_of(*one.input, request_);
    } catch (...) {
      return refuse(std::current_exception());
    }
    one.input.reset();
    return take_(taken_++, std::move(explanations));
  }

  // Interruptions, and what is nobody's input's fault, are thrown on.
  bool refuse(const std::exception_ptr& why) {
    if (!refused_) std::rethrow_exception(why);
    try {
      std::rethrow_exception(why);
    } catch (const Error& error) {
      return refused_(taken_++, error);
    }
  }

  const Model& model_;
  std::span<const InputValue> inputs_;
  const ExplainRequest& request_;
  const TakeExplanations& take_;
  const TakeRefusal& refused_;
  Needs needs_;
  std::vector<Reading> readings_;  // of inputs that were not taken yet
  std::exception_ptr refusal_;     // of the input behind them
  size_t taken_ = 0;
};

}  // namespace

void explain_each(const Model& model, std::span<const InputValue> inputs,
                  const ExplainRequest& request, const TakeExplanations& take,
                  const TakeRefusal& refused) {
  const PulseScope pulses(pulse_question(request.progress));
  EachExplained(model, inputs, request, take, refused).run();
}

}  // namespace whyformer
