// Which heads find the arcs of dependency trees (Clark et al., BlackboxNLP 2019, section 4.2).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "studies/heads/roles/role_counts.h"
#include "whyformer/treebank.h"

namespace whyformer {

// The units of each word of a sentence, found by code points; none for words that have no unit to
// themselves.
std::vector<std::vector<int64_t>> units_of_words(const std::vector<Unit>& units,
                                                 const DependencyTree& words);

// [words, words] of one head's map [queries, keys]: attention to a word is summed over its units,
// attention from a word averaged over them.
std::vector<double> word_attention(std::span<const double> map, int64_t keys,
                                   const std::vector<std::vector<int64_t>>& units_of_word);

class ArcCounts {
 public:
  explicit ArcCounts(const HeadRolesRequest& request) : request_(request) {}

  // Never interrupted: what was counted before for the same input stays with it.
  void add(const std::vector<Unit>& units, const DependencyTree& words, const HeadMaps& maps);
  HeadSyntax syntax() const;

 private:
  struct Relation {
    int64_t arcs = 0;
    std::map<int64_t, int64_t> offsets = {};
    // [layer][head]
    std::vector<std::vector<int64_t>> dependent_to_head = {}, head_to_dependent = {};
  };
  RelationArcs judged(const std::string& name, const Relation& relation) const;

  HeadRolesRequest request_;
  int64_t sentences_ = 0, left_out_ = 0;
  Relation all_;
  std::map<std::string, Relation> relations_;
};

}  // namespace whyformer
