// Words, tables and points that all reports of a debate share.
#pragma once

#include <string>
#include <vector>

#include "report/views/report_table.h"
#include "whyformer/debate.h"

namespace whyformer::report {

std::string debate_title(const DebateReport& report);
std::string debate_facts(const DebateReport& report);

// A part with its question, its verdict and its numbers.
struct DebateSection {
  DebatePartInfo part;
  const DebateVerdict* verdict = nullptr;  // null where the part was refused
  std::vector<std::string> refusals;
  std::vector<ReportTable> tables;
};
// Parts that were asked for.
std::vector<DebateSection> debate_sections(const DebateReport& report);

// "0.31 ± 0.12"; "–" where nothing was measured.
std::string mean_words(const DebateMean& mean);

// One input: its largest weight, and how far adversarial attention is.
struct DebatePoint {
  double x = 0, y = 0;
  int64_t predicted = 0;
};
std::vector<DebatePoint> adversary_points(const DebateReport& report);
std::vector<DebatePoint> permutation_points(const DebateReport& report);  // y: the median change

// Words of an input with the observed and the adversarial weight of each, specials left out.
struct TwoWeights {
  std::string word;
  double observed = 0, adversarial = 0;
};
struct DebateExampleView {
  std::string title;  // the input's name, its answer, the divergence and the change
  std::vector<TwoWeights> words;
};
// Of inputs over the whole range of divergences, the furthest first.
std::vector<DebateExampleView> debate_examples(const DebateReport& report, size_t most);

}  // namespace whyformer::report
