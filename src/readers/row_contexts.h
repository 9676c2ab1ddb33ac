// The rows that explained ones attend to, of models whose rows attend to each other (SAINT).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "readers/row_layout.h"

namespace whyformer {

// The context of one explained row.
struct RowsSeen {
  std::string from;  // what reports call it: the file's name, or "block"
  std::vector<Sample> samples = {};
  std::vector<std::string> cells = {};  // of each row, as text
  std::vector<int64_t> numbers = {};    // of each row, in its table
  // What each row's own answer is, where the table tells it of all of them; rows stand in the order
  // of the labels then, so that maps of them show groups.
  std::vector<std::string> answers = {};
  ContextMode mode = ContextMode::kFrozen;

  int64_t count() const { return static_cast<int64_t>(samples.size()); }
  // Of the numbers that the model reads, in their order.
  std::string hash() const;
};

class RowContexts {
 public:
  // Of a model whose rows stay apart, or that sees none.
  explicit RowContexts(std::shared_ptr<const RowSource> alone) : alone_(std::move(alone)) {}
  // The same rows for every explained one.
  RowContexts(std::shared_ptr<const RowSource> alone, const RowLayout& layout,
              const NamedTable& rows, std::string from, ContextMode mode);
  // The others of its block of the table, which come with each row.
  RowContexts(std::shared_ptr<const RowSource> alone, int64_t block, ContextMode mode);

  const std::shared_ptr<const RowSource>& alone() const { return alone_; }
  // The model as it explains rows that come without a block.
  const std::shared_ptr<const RowSource>& source() const { return source_; }
  // The model as it answers: live, and in blocks where contexts are blocks.
  const std::shared_ptr<const RowSource>& answering() const { return answering_; }
  // 0 where contexts are no blocks.
  int64_t block() const { return block_; }
  RowsSeen seen_by(const RowLayout& layout, const RowInput& row) const;
  std::shared_ptr<const RowSource> source_of(const RowsSeen& seen) const;

 private:
  std::shared_ptr<const RowSource> alone_;
  RowsSeen given_ = {};
  std::shared_ptr<const RowSource> source_ = alone_, answering_ = alone_;
  int64_t block_ = 0;
  ContextMode mode_ = ContextMode::kFrozen;
};

// What the model answers to the row in its context, alone, and in other contexts of that size,
// drawn with replacement from the context and the background [rows, numbers], less those that equal
// the row itself.
ContextFacts facts_of_context(const RowSource& alone, const RowsSeen& seen, const Sample& row,
                              const std::vector<Sample>& background, DType dtype);

}  // namespace whyformer
