#include "studies/heads/text_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace whyformer {

std::unique_ptr<Explained> TextHeadExamples::run(int64_t example,
                                                 Explained::Settings settings) const {
  return std::make_unique<Explained>(model_, corpus_[example].encoding, std::move(settings));
}

std::vector<std::vector<int64_t>> TextHeadExamples::batches(int64_t tokens_at_once) const {
  std::vector<std::vector<int64_t>> batches;
  std::map<size_t, size_t> open;  // by length: the batch that still takes texts
  for (int64_t example = 0; example < count(); ++example) {
    const size_t length = corpus_[example].encoding.ids.size();
    const auto room =
        std::clamp<size_t>(tokens_at_once / std::max<size_t>(1, length), 1, model_.most_at_once());
    const auto known = open.find(length);
    if (known == open.end() || batches[known->second].size() >= room) {
      open[length] = batches.size();
      batches.emplace_back();
    }
    batches[open[length]].push_back(example);
  }
  return batches;
}

Run TextHeadExamples::run_together(std::span<const int64_t> examples, DType dtype) const {
  TokenBatch tokens;
  for (const int64_t example : examples) {
    tokens.ids.push_back(corpus_[example].encoding.ids);
    tokens.types.push_back(corpus_[example].encoding.type_ids);
  }
  const auto graph = model_.graph({.batch = static_cast<int64_t>(examples.size()),
                                   .tokens = static_cast<int64_t>(tokens.ids[0].size()),
                                   .dtype = dtype});
  return {graph, model_.feeds(*graph, tokens)};
}

std::vector<std::string> TextHeadExamples::notes() const {
  const int64_t cut = std::count_if(corpus_.begin(), corpus_.end(), [](const EncodedText& text) {
    return text.encoding.truncated > 0;
  });
  if (cut == 0) return {};
  return {fmt::format(
      "{} texts are longer than the model reads and were cut off at its maximum of {} tokens.", cut,
      model_.max_tokens())};
}

}  // namespace whyformer
