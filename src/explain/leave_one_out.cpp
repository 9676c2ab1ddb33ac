#include <fmt/format.h>

#include "explain/method.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// One input per ordinary token, without that token: masked in place, deleted (later positions move
// up), or invisible to attention in every layer.
TokenBatch inputs_without_each(const Explained& explained, const std::string& how) {
  const Encoding& encoding = explained.encoding();
  TokenBatch batch;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.special[i]) continue;
    std::vector<int64_t> ids = encoding.ids;
    std::vector<int64_t> types = encoding.type_ids;
    if (how == "delete") {
      ids.erase(ids.begin() + static_cast<int64_t>(i));
      types.erase(types.begin() + static_cast<int64_t>(i));
    } else if (how == "mask") {
      ids[i] = *explained.model().mask_id();
    } else {
      std::vector<bool> hidden(ids.size(), false);
      hidden[i] = true;
      batch.hidden.push_back(std::move(hidden));
    }
    batch.ids.push_back(std::move(ids));
    batch.types.push_back(std::move(types));
  }
  return batch;
}

// a_i = y(x) - y(x without token i); special tokens stay and get 0.
Scores leave_one_out(Explained& explained, const std::string& how) {
  if (how == "mask" && !explained.model().mask_id()) {
    throw InvalidInput(
        "leave-one-out.how=mask: this tokenizer has no mask token; use --option "
        "leave-one-out.how=delete");
  }
  const std::vector<std::vector<double>> answers =
      explained.evaluate(inputs_without_each(explained, how));
  Scores scores{std::vector<double>(explained.tokens(), 0.0)};
  size_t next = 0;
  for (size_t i = 0; i < scores.values.size(); ++i) {
    if (explained.encoding().special[i]) continue;
    scores.values[i] = explained.target_value() - answers[next++][explained.target()];
  }
  return scores;
}

}  // namespace

const Method kLeaveOneOut{
    {.name = "leave-one-out",
     .summary = "how much the target falls when a token is taken away",
     .paper = "Li et al., 2016 (erasure); Zeiler & Fergus, ECCV 2014 (occlusion)",
     .cost = "1 forward per token",
     .class_specific = true,
     .is_signed = true,
     .options = {{"how",
                  "replace by the mask token, delete, or drop from attention in every layer",
                  std::string("mask"),
                  {"mask", "delete", "drop"}}},
     .presets = {}},
    {},
    [](Explained& explained, const OptionReader& options) {
      return leave_one_out(explained, options.word("how"));
    }};

}  // namespace whyformer
