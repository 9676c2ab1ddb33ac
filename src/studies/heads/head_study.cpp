#include "studies/heads/head_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/pulse.h"
#include "studies/heads/head_examples.h"
#include "studies/heads/head_measure.h"
#include "studies/heads/pruning.h"
#include "studies/heads/roles/role_study.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Clock = std::chrono::steady_clock;

struct MeasureJob {
  const HeadMeasureEntry* entry;
  std::unique_ptr<HeadMeasure> measure;
};

std::vector<MeasureJob> jobs_of(const HeadsRequest& request) {
  if (request.measures.empty() && (!request.roles || request.prune)) {
    throw InvalidInput("no measure of heads was asked for");
  }
  std::vector<MeasureJob> jobs;
  for (const std::string& name : request.measures) {
    const HeadMeasureEntry& entry = find_head_measure(name);
    jobs.push_back({&entry, entry.make(request)});
  }
  return jobs;
}

class HeadStudy {
 public:
  HeadStudy(const HeadExamples& examples, const HeadsRequest& request)
      : examples_(examples), request_(request), jobs_(jobs_of(request)) {
    for (const MeasureJob& job : jobs_) {
      needs_ = needs_ | job.entry->needs;
      answer_ = std::max(answer_, job.entry->answer);
    }
    check();
    read_labels();
    if (!request.roles) return;
    roles_.emplace(examples, *request.roles);
    needs_.attention = true;
  }

  HeadImportance run() {
    const auto start = Clock::now();
    result_.kind = examples_.kind();
    const PulseScope pulses([this] { return advance(0); });
    if (roles_) roles_->count_words(dtype());
    look_at_all();
    for (const MeasureJob& job : jobs_) {
      const HeadMeasureInfo& info = job.entry->info;
      result_.measures.push_back(
          {info.name, info.summary, job.entry->options(request_), job.measure->scores()});
    }
    if (roles_) result_.roles = roles_->roles();
    if (request_.prune && !result_.stopped_early) prune();
    add_notes();
    result_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(result_);
  }

 private:
  void look_at_all() {
    for (int64_t example = 0; example < examples_.count(); ++example) {
      try {
        look_at(example);
      } catch (const Interrupted&) {
        if (result_.examples == 0) throw;
        result_.stopped_early = true;
      }
      if (result_.stopped_early || !advance(1)) return;
    }
  }

  DType dtype() const {
    return request_.precision == Precision::kDouble ? DType::kFloat64 : DType::kFloat32;
  }

  bool reads_answers() const { return answer_ != AnswerNeeds::kNothing || request_.prune; }

  void check() const {
    if (examples_.count() == 0)
      throw InvalidInput(fmt::format("there are no {} to measure heads on", examples_.kind()));
    for (const MeasureJob& job : jobs_) {
      if (job.entry->answer != AnswerNeeds::kNothing && !examples_.problem()) {
        throw InvalidInput(fmt::format(
            "the measure '{}' needs a classifier, which this model lacks; confidence and entropy "
            "do without",
            job.entry->info.name));
      }
    }
    if (!request_.prune) return;
    if (!examples_.problem() || *examples_.problem() == Problem::kRegression) {
      throw InvalidInput("a pruning curve shows accuracy, so it needs a classifier");
    }
    if (!(request_.prune->step > 0 && request_.prune->step <= 1)) {
      throw InvalidInput(
          fmt::format("pruning in steps of {:g} of all heads: expected a share above "
                      "0 and up to 1",
                      request_.prune->step));
    }
  }

  // All at once, so that a wrong label is heard of before hours of work.
  void read_labels() {
    labels_.resize(examples_.count());
    if (!reads_answers()) return;
    for (int64_t i = 0; i < examples_.count(); ++i) {
      if (examples_.labels(i)) {
        labels_[i] = label_of(i);
      } else if (answer_ == AnswerNeeds::kLoss && *examples_.problem() == Problem::kRegression) {
        throw InvalidInput(fmt::format(
            "{}: there is no label; the loss of a regression model needs the right number",
            examples_.place(i)));
      }
    }
  }

  HeadLabel label_of(int64_t example) const {
    try {
      return label_given(*examples_.problem(), examples_.output_names(),
                         *examples_.labels(example));
    } catch (const InvalidInput& error) {
      throw InvalidInput(fmt::format("{}: {}", examples_.place(example), error.what()));
    }
  }

  void look_at(int64_t example) {
    const std::unique_ptr<Run> explained = examples_.run(example, dtype(), {.needs = needs_});
    if (explained->layers() == 0) throw InvalidInput(kNoAttention);
    std::optional<HeadLabel>& label = labels_[example];
    const bool labelled = label.has_value();
    if (!label) {
      label = reads_answers() ? label_predicted(*examples_.problem(), explained->outputs())
                              : HeadLabel();
    }
    HeadRun run(*explained, *label, examples_.problem());
    // In copies: whoever interrupts, an example counts for all measures or for none.
    std::vector<std::unique_ptr<HeadMeasure>> with_example;
    for (const MeasureJob& job : jobs_) {
      with_example.push_back(job.measure->copy());
      with_example.back()->add(run);
    }
    if (roles_) roles_->add(example, *explained);
    for (size_t i = 0; i < jobs_.size(); ++i) jobs_[i].measure = std::move(with_example[i]);
    ++result_.examples;
    result_.labelled += labelled;
    result_.tokens += explained->tokens();
    if (request_.prune && result_.examples == 1) {
      runs_ += pruning_runs(zero_grid(*explained), *request_.prune, examples_.count());
    }
  }

  bool advance(int64_t runs) {
    done_ += runs;
    if (request_.progress && !request_.progress(done_, runs_)) result_.stopped_early = true;
    return !result_.stopped_early;
  }

  void prune() {
    result_.pruning = pruning_curve(examples_, labels_, result_.measures[0], *request_.prune,
                                    dtype(), [this](int64_t runs) { return advance(runs); });
  }

  void note(std::string text) { result_.notes.push_back(std::move(text)); }

  void add_notes() {
    if (result_.stopped_early) note_what_is_missing();
    if (reads_answers() && result_.labelled == 0) {
      note(fmt::format("None of the {} has a label: the model's own predictions stand in.",
                       result_.kind));
    } else if (reads_answers() && result_.labelled < result_.examples) {
      note(fmt::format("{} of {} {} have no label: the model's own predictions stand in.",
                       result_.examples - result_.labelled, result_.examples, result_.kind));
    }
    for (std::string& one : examples_.notes()) note(std::move(one));
    if (roles_) {
      for (std::string& one : roles_->notes()) note(std::move(one));
    }
    if (result_.pruning)
      note(fmt::format("Heads were scored and pruned on the same {}.", result_.kind));
  }

  void note_what_is_missing() {
    const int64_t all = examples_.count();
    if (result_.examples < all) {
      note(fmt::format("Stopped early: scores are those of the first {} of {} {}.",
                       result_.examples, all, result_.kind));
    }
    if (request_.prune && !result_.pruning) {
      note("Stopped early: there is no pruning curve.");
    } else if (result_.pruning && result_.pruning->examples < all) {
      note(fmt::format("Stopped early: accuracies are those of {} of {} {}.",
                       result_.pruning->examples, all, result_.kind));
    }
  }

  const HeadExamples& examples_;
  const HeadsRequest& request_;
  std::vector<MeasureJob> jobs_;
  std::optional<RoleStudy> roles_;
  Needs needs_;
  AnswerNeeds answer_ = AnswerNeeds::kNothing;
  std::vector<std::optional<HeadLabel>> labels_;  // predicted ones come with the runs
  int64_t done_ = 0;
  int64_t runs_ = examples_.count();
  HeadImportance result_;
};

}  // namespace

HeadImportance study_heads(const Reader& reader, const std::vector<LabelledInput>& corpus,
                           const HeadsRequest& request) {
  return HeadStudy(HeadExamples(reader, corpus), request).run();
}

}  // namespace whyformer
