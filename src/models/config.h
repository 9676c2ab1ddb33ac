// config.json of a HuggingFace folder, read with checks.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace whyformer {

// Parses one of the model's JSON files. Throws FileError that names it.
nlohmann::json parse_json_file(const Bytes& file, std::string_view name);

enum class Problem {
  kSingleLabel,
  kMultiLabel,
  kRegression,
  kOneLogit  // two labels that one logit z tells apart: the outputs are -z and z
};
// Whether an output's probability is that of its own logit, whatever the others say.
inline bool is_sigmoid(Problem problem) {
  return problem == Problem::kMultiLabel || problem == Problem::kOneLogit;
}

class Config {
 public:
  explicit Config(nlohmann::json json);

  const std::string& model_type() const { return model_type_; }
  // "BertForSequenceClassification"; empty if the file does not say.
  const std::string& architecture() const { return architecture_; }

  // A whole number between 1 and `most`. Throws FileError if it is missing or absurd.
  int64_t size(std::string_view key, int64_t most = 10'000'000) const;
  int64_t size_or(std::string_view key, int64_t fallback) const;
  // The fallback stands for a key that is not there. A value of another kind, null too, is a
  // FileError; only ids may be null, as transformers writes them.
  double number_or(std::string_view key, double fallback) const;
  std::string text_or(std::string_view key, std::string fallback) const;
  bool flag_or(std::string_view key, bool fallback) const;
  int64_t id_or(std::string_view key, int64_t fallback) const;
  // What norms add to the variance: finite and not negative.
  double layer_norm_epsilon(double fallback) const;

  // One whole number for both, or a list of two: height and width.
  std::pair<int64_t, int64_t> pair_or(std::string_view key, int64_t fallback) const;
  // A list of 1 to `most` whole numbers, each from 1 on.
  std::vector<int64_t> sizes_or(std::string_view key, std::vector<int64_t> fallback,
                                size_t most) const;
  // An object inside as a config of its own, overridden by a second one (CLIP's early configs have
  // "text_config" and "text_config_dict"); an empty one where there is none.
  Config part(std::string_view key, std::string_view overriding) const;

  // Names of `count` outputs: id2label where given, else LABEL_0, LABEL_1, …
  std::vector<std::string> labels(int64_t count) const;
  Problem problem(int64_t labels) const;

  // Whether `architecture` names a head at all, and one whose answer is not one for the whole text.
  bool names_head() const;
  bool names_other_head() const { return !work_of_other_head().empty(); }
  // What such a head does, as in "a head that labels each token"; empty for none that is known.
  std::string_view work_of_other_head() const;

 private:
  nlohmann::json json_;
  std::string model_type_;
  std::string architecture_;
};

// Throws FileError where the config tells another number of words than their table has rows.
void check_vocabulary(const Config& config, int64_t rows);

// config.json of a model; an empty one where it has none.
Config config_of(const FileLookup& files);

}  // namespace whyformer
