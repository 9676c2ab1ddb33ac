// What the outputs of a table model mean, as table.json tells, for every kind of model file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/tables/table_spec.h"
#include "graph/graph.h"
#include "models/config.h"

namespace whyformer {

// Of a model with so many outputs for each row.
class TableAnswers {
 public:
  // Throws UnsupportedModel where table.json tells of other outputs or labels.
  TableAnswers(TaskSpec task, int64_t outputs);

  Problem problem() const;
  std::vector<std::string> names() const;
  // Two classes by one logit z are shown as -z and z; probabilities as logits that give them, since
  // gradients vanish in what was rounded to 1; a regression in the user's unit.
  Value presented(GraphBuilder& graph, Value answer) const;
  // What the model itself gave, from what is shown.
  std::vector<double> raw(std::vector<double> shown) const;
  std::vector<std::string> notes() const;

 private:
  bool is_one_logit() const { return task_.kind == TaskSpec::Kind::kBinary && outputs_ == 1; }
  bool gives_probabilities() const;
  // Each output's probability is its own, whatever the others say.
  bool apart() const { return outputs_ == 1 || task_.kind == TaskSpec::Kind::kMultilabel; }
  int64_t shown() const { return is_one_logit() ? 2 : outputs_; }
  Value log_odds(GraphBuilder& graph, Value probabilities) const;

  TaskSpec task_;
  int64_t outputs_ = 0;
};

}  // namespace whyformer
