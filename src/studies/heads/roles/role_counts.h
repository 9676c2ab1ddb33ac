// How often each role holds for each head, and how often it would hold for relabelled tokens.
#pragma once

#include <vector>

#include "run/run.h"
#include "studies/heads/roles/role.h"

namespace whyformer {

// Tokens of one input that the roles of all heads are counted on.
class RolePairs {
 public:
  explicit RolePairs(const UnitFacts& facts);

  int64_t units() const { return units_; }
  // A bit for each role that holds where `query` attends to `key` most.
  uint32_t holding(int64_t query, int64_t key) const { return pairs_[query * units_ + key]; }
  // A bit for each role that the token could play: some key is right. None for special tokens.
  uint32_t possible(int64_t query) const { return possible_[query]; }

 private:
  int64_t units_;
  std::vector<uint32_t> pairs_, possible_;
};

// Attention maps of one input, [heads, queries, keys] a layer, in double.
using HeadMaps = std::vector<Tensor>;
HeadMaps maps_of(const Run& run);

class RoleCounts {
 public:
  struct Counts {
    std::vector<int64_t> hits, tokens;  // [head of any layer, role]
    std::vector<int64_t> relabelled;    // [relabelling, head of any layer, role]
  };

  explicit RoleCounts(const HeadRolesRequest& request);

  // One input more. An input that throws leaves all counts as they were.
  void add(const UnitFacts& facts, const HeadMaps& maps);

  // Over all inputs so far, with what stands out of chance. Roles that no token could play are left
  // out.
  HeadRoles roles() const;

 private:
  // Which token stands at each key: its own, and another one in each relabelling. Queries keep
  // theirs, so that attention to itself has a chance level, too.
  struct Labels {
    std::vector<int32_t> own;
    std::vector<std::vector<int32_t>> drawn = {};
  };
  void count_rows(const UnitFacts& facts, const RolePairs& pairs, const Labels& labels,
                  const Tensor& map, int64_t first_head, Counts& counts) const;
  size_t cells() const { return counts_.hits.size(); }

  HeadRolesRequest request_;
  std::vector<int64_t> heads_;  // of each layer
  int64_t inputs_ = 0;
  Counts counts_;
};

}  // namespace whyformer
