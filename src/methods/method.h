// What a method is: its catalogue entry and the function that runs it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/run.h"
#include "whyformer/methods.h"

namespace whyformer {

// Scores of one method; explain() adds words, cost and provenance.
struct Scores {
  std::vector<double> values;  // one per unit
  std::optional<double> completeness_gap = {};
  std::optional<int64_t> seed = {};
  std::vector<std::string> notes = {};
  std::optional<Estimate> estimate = {};
  std::vector<double> pixels = {};  // one per pixel, where the method looks at pixels
  bool stopped =
      false;  // by the caller: values that are not a number were not reached, and a note tells it
};

// Options of one request, complete and checked.
class OptionReader {
 public:
  explicit OptionReader(Options options) : options_(std::move(options)) {}
  int64_t whole(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  const std::string& word(std::string_view name) const;
  const Options& all() const { return options_; }

 private:
  const OptionValue& at(std::string_view name) const;
  Options options_;
};

// How an input of several parts that are compared is explained: each part by itself with the others
// as they are, or all in one run, where the scores of one depend on what is done to the others.
enum class OnSeveralParts { kEach, kTogether };

struct Method {
  MethodInfo info;
  Needs needs;
  Scores (*run)(Run&, const OptionReader&);
  OnSeveralParts on_parts = OnSeveralParts::kEach;
};

// One line per method; the catalogue lists them.
extern const Method kAlti;
extern const Method kAttentionFlow;
extern const Method kAttentionNorm;
extern const Method kAttnLrp;
extern const Method kCpLrp;
extern const Method kDecompX;
extern const Method kExactShap;
extern const Method kGenericAttention;
extern const Method kGlobEnc;
extern const Method kGradCam;
extern const Method kGradSam;
extern const Method kGradientTimesInput;
extern const Method kIntegratedGradients;
extern const Method kKernelShap;
extern const Method kLeaveOneOut;
extern const Method kLime;
extern const Method kLrp;
extern const Method kOcclusion;
extern const Method kPartialLrp;
extern const Method kPartitionShap;
extern const Method kPermutationShap;
extern const Method kRawAttention;
extern const Method kRollout;
extern const Method kSaliency;
extern const Method kSamplingShap;
extern const Method kShap;
extern const Method kShapleyTaylor;
extern const Method kSmoothGrad;
extern const Method kTransformerAttribution;

std::span<const Method* const> catalogue();
// By "NAME" or "NAME:PRESET". Throws InvalidInput that lists what is known.
const Method& find_method(std::string_view name);
// The options of the preset in such a name; none where it has none.
Options preset_in(std::string_view name);

// The option that names a relevance policy or a file of one.
OptionInfo policy_option(std::string fallback);

// Defaults, overridden by what was asked. Throws InvalidInput for unknown names and wrong values.
OptionReader complete_options(const Method& method, const Options& given);

}  // namespace whyformer
