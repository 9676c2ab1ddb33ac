// Roles of heads that look for words.
#include "studies/heads/roles/role.h"

namespace whyformer {
const RoleEntry kSameWord{
    {"same-word", "same", "another occurrence of the same word", "Clark et al., BlackboxNLP 2019"},
    [](const UnitFacts& facts) { return facts.has_words(); },
    [](const UnitFacts& facts, int64_t query, int64_t key) {
      return facts.word[key] >= 0 && facts.word[key] != facts.word[query] &&
             facts.spelling[key] == facts.spelling[query];
    }};
// Of texts whose words are all equally rare nothing can be told.
const RoleEntry kRareWord{{"rare-word", "rare", "the word of the text that is rarest in the corpus",
                           "Voita et al., ACL 2019"},
                          [](const UnitFacts& facts) {
                            return !facts.word_count.empty() && facts.most_common > facts.rarest;
                          },
                          [](const UnitFacts& facts, int64_t, int64_t key) {
                            return facts.word[key] >= 0 && facts.word_count[key] == facts.rarest;
                          }};

}  // namespace whyformer
