// The roles of heads over the examples of a study.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/heads/head_examples.h"
#include "studies/heads/roles/arc_counts.h"
#include "studies/heads/roles/role_counts.h"

namespace whyformer {

class RoleStudy {
 public:
  // Throws InvalidInput for settings that make no sense. The examples outlive the study.
  RoleStudy(const HeadExamples& examples, const HeadRolesRequest& request);

  // Of the whole corpus, before any example is added.
  void count_words(DType dtype);
  void add(int64_t example, const Run& run);
  HeadRoles roles() const;
  // What the reader must know; after roles().
  std::vector<std::string> notes() const;

 private:
  const HeadExamples& examples_;
  HeadRolesRequest request_;
  std::optional<WordCounts> words_;
  RoleCounts roles_;
  std::optional<ArcCounts> arcs_;
};

}  // namespace whyformer
