// Path patching: the direct path of one head to a receiver, everything between held still.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/patching/patch_study.h"
#include "studies/patching/sweep.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

constexpr const char* kOutput = "output";

class PathStudy {
 public:
  PathStudy(PatchStudy& study, const PatchedRun& base, const PathReceiver& receiver)
      : study_(study), base_(base), receiver_(receiver) {
    const auto layers = static_cast<int>(base.blocks().size());
    if (layers == 0)
      throw InvalidInput("no encoder blocks of a known form were found in this model");
    const auto& parts = {kOutput, "query", "key", "value"};
    if (std::ranges::find(parts, receiver.what) == parts.end()) {
      throw InvalidInput(fmt::format(
          "a path cannot end at '{}': choose output, query, key or value", receiver.what));
    }
    ends_at_output_ = receiver.what == kOutput;
    if (!ends_at_output_ && (receiver.layer < 1 || receiver.layer >= layers)) {
      throw InvalidInput(fmt::format("the receiving layer is {}: choose one from 1 to {}",
                                     receiver.layer, layers - 1));
    }
    senders_ = ends_at_output_ ? layers : receiver.layer;
    const NamedValue& context = base.names().at(part(0, "attention.context"));
    head_axis_ = context.axis("head") - 1;  // the batch is gone
    for (int layer = 0; layer < layers; ++layer)
      heads_.push_back(base.value(part(layer, "attention.context")).dim(head_axis_ + 1));
    if (ends_at_output_) return;
    if (receiver.head < 0 || receiver.head >= heads_[receiver.layer]) {
      throw InvalidInput(fmt::format("the receiving head is {}: choose one from 0 to {}",
                                     receiver.head, heads_[receiver.layer] - 1));
    }
  }

  EffectGrid run() {
    EffectGrid grid{.kind = ends_at_output_
                                ? "heads to the output"
                                : fmt::format("heads to the {} of layer {} head {}", receiver_.what,
                                              receiver_.layer, receiver_.head),
                    .column_axis = "head"};
    for (int layer = 0; layer < senders_; ++layer)
      grid.rows.push_back(fmt::format("layer {}", layer));
    // Layers may have different numbers of heads: those with fewer leave cells without a change.
    for (int64_t head = 0; head < *std::ranges::max_element(heads_); ++head)
      grid.columns.push_back(fmt::format("{}", head));
    grid.changes.assign(grid.cells(), std::nan(""));
    for (int layer = 0; layer < senders_; ++layer) {
      const double received = ends_at_output_ ? 0 : base_.forwards_behind(receiving());
      study_.expect(static_cast<double>(heads_[layer]) *
                    (base_.forwards_behind(part(layer, "attention.context")) + received));
    }
    const RunsMade made = study_.counter();
    const double base = study_.metric().value(base_.outputs());
    try {
      for (int layer = 0; layer < senders_; ++layer) {
        const std::vector<double> values = from_layer(layer, made);
        for (size_t head = 0; head < values.size(); ++head)
          grid.changes[static_cast<size_t>(layer) * grid.columns.size() + head] =
              values[head] - base;
      }
    } catch (const Interrupted&) {
      study_.stop();
    }
    return grid;
  }

 private:
  std::string part(int layer, const std::string& name) const {
    return base_.blocks()[static_cast<size_t>(layer)] + "." + name;
  }

  std::string receiving() const { return part(receiver_.layer, "attention." + receiver_.what); }

  // The sender, and all parts behind it up to the receiver as they are in the corrupted run.
  std::vector<PatchedRun::Stop> stops_from(int layer) const {
    std::vector<PatchedRun::Stop> stops{{part(layer, "attention.context"), false},
                                        {part(layer, "mlp.output"), true}};
    for (int later = layer + 1; later < senders_; ++later) {
      stops.push_back({part(later, "attention.output"), true});
      stops.push_back({part(later, "mlp.output"), true});
    }
    return stops;
  }

  // The metric, where each head of the layer sends what it has in the clean run.
  std::vector<double> from_layer(int layer, const RunsMade& made) const {
    const Tensor clean = study_.clean().value(part(layer, "attention.context")).select(0, 0);
    const auto send = [&](int64_t head, size_t, const Tensor& value) {
      Tensor own = value.slice(head_axis_, head, 1);
      own.copy_from(clean.slice(head_axis_, head, 1));
    };
    std::vector<double> values(static_cast<size_t>(heads_[layer]));
    if (ends_at_output_) {
      base_.go_on(
          stops_from(layer), heads_[layer], send, "",
          [&](int64_t head, const Tensor& row) {
            values[head] = study_.metric().value(row.to_doubles());
          },
          made);
      return values;
    }
    std::vector<Tensor> received(values.size());
    base_.go_on(
        stops_from(layer), heads_[layer], send, receiving(),
        [&](int64_t head, const Tensor& row) { received[head] = row.copy(); }, made);
    const auto receive = [&](int64_t head, size_t, const Tensor& value) {
      Tensor own = value.slice(head_axis_, receiver_.head, 1);
      own.copy_from(received[head].slice(head_axis_, receiver_.head, 1));
    };
    const auto answers = base_.answers({{receiving()}}, heads_[layer], receive, made);
    for (size_t head = 0; head < answers.size(); ++head)
      values[head] = study_.metric().value(answers[head]);
    return values;
  }

  PatchStudy& study_;
  const PatchedRun& base_;
  const PathReceiver& receiver_;
  bool ends_at_output_ = true;
  int senders_ = 0;
  int head_axis_ = 0;
  std::vector<int64_t> heads_;  // by layer
};

}  // namespace

PatchReport study_paths(const Reader& reader, const InputValue& clean, const InputValue& corrupted,
                        const PathReceiver& receiver, const PatchRequest& request) {
  PatchStudy study(reader, clean, request, "path patching");
  const auto base = study.read_corrupted(corrupted);
  if (study.units().size() != study.report.corrupted->units.size()) {
    throw InvalidInput(
        fmt::format("path patching needs inputs of equally many units: these have {} and {}",
                    study.units().size(), study.report.corrupted->units.size()));
  }
  EffectGrid grid = PathStudy(study, *base, receiver).run();
  study.report.effects_are_shares =
      add_effects(study.report.clean_value, *study.report.corrupted_value, grid);
  study.report.grids.push_back(std::move(grid));
  return study.finish();
}

}  // namespace whyformer
