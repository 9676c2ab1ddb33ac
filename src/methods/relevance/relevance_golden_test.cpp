// Relevance against formulas written out in PyTorch (tests/golden/relevance).
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "methods/gradients/token_gradients.h"
#include "methods/method.h"
#include "tests/support/golden_model.h"
#include "tests/support/golden_vit.h"
#include "tests/support/source_folder.h"
#include "tests/support/walk_relevance.h"

namespace whyformer {
namespace {

using Doubles = std::vector<double>;

std::filesystem::path relevance_folder() { return source_folder() / "tests/golden/relevance"; }

// The answers of one case.
struct Answers {
  StoredTensors tensors;
  nlohmann::json about;

  explicit Answers(const std::string& name) {
    const FileLookup files = files_in(relevance_folder());
    tensors = read_safetensors(*files(name + ".safetensors"), name);
    about = nlohmann::json::parse(files(name + ".json")->text());
  }

  // Compares with the answer of that name, in units of its largest value: 1e-9 in double; in float
  // three times what the reference itself moves between float32 and float64 on this network.
  void compare(const Doubles& actual, const std::string& name, DType dtype) const {
    const StoredTensor& stored = tensors.at(name);
    Doubles expected(stored.count());
    std::memcpy(expected.data(), stored.data.view.data(), expected.size() * sizeof(double));
    ASSERT_EQ(actual.size(), expected.size()) << name;
    double largest = 0, worst = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_TRUE(std::isfinite(actual[i])) << name;
      worst = std::max(worst, std::abs(actual[i] - expected[i]));
    }
    const double tolerance = dtype == DType::kFloat64 ? 1e-9 : 3 * float_deviation(name);
    EXPECT_LE(worst, tolerance * largest + 1e-14) << name << ", tolerance " << tolerance;
  }

  // The most that float32 moves any answer of the same rules: one tensor may be lucky.
  double float_deviation(const std::string& name) const {
    double most = 0;
    for (const auto& [other, deviation] : about["float32_deviation"].items()) {
      if (rules_of(other) == rules_of(name)) most = std::max(most, deviation.get<double>());
    }
    return most;
  }

 private:
  // "chefer" of "single.1.chefer.attention.0".
  static std::string rules_of(const std::string& name) {
    const size_t target = name.find('.');
    const size_t rules = name.find('.', target + 1);
    return name.substr(rules + 1, name.find('.', rules + 1) - rules - 1);
  }
};

std::string joined(const std::vector<int64_t>& targets) {
  std::string text;
  for (const int64_t target : targets) text += (text.empty() ? "" : "-") + std::to_string(target);
  return text;
}

// The targets that the answers hold: those of the input, and the classes after them.
std::vector<std::vector<int64_t>> targets_of(const GoldenModel& golden, const GoldenInput& input) {
  const auto classes = static_cast<int64_t>(golden.model->output_names().size());
  std::vector<int64_t> others;
  for (const int64_t target : input.targets) others.push_back((target + 1) % classes);
  return {input.targets, others};
}

class Relevance : public testing::TestWithParam<std::string> {};

struct PolicyCase {
  const char* answer;
  const char* policy;
  RelevanceForm form;
};
constexpr PolicyCase kSummed[] = {
    {"attn-lrp.embeddings", "attn-lrp", RelevanceForm::kGradient},
    {"attn-lrp-explicit.embeddings", "attn-lrp", RelevanceForm::kExplicit},
    {"cp-lrp.embeddings", "cp-lrp", RelevanceForm::kGradient},
    {"cp-lrp-derivative.embeddings", "cp-lrp-derivative", RelevanceForm::kGradient},
    {"gamma.embeddings", "gamma", RelevanceForm::kExplicit},
    {"epsilon.embeddings", "epsilon", RelevanceForm::kExplicit},
    {"alpha-beta.embeddings", "alpha-beta", RelevanceForm::kExplicit},
};

Doubles summed_over_width(const Tensor& tensor) {
  return row_sums(tensor.reshape({tensor.dim(0) * tensor.dim(1), tensor.dim(2)}));
}

// All policies on one input as it stands (padding and batch included).
void compare_policies(const GoldenModel& golden, const GoldenInput& input, const Answers& answers,
                      DType dtype) {
  const auto graph = golden.model->graph({.batch = input.size(),
                                          .tokens = input.tokens(),
                                          .masked = !input.batch.hidden.empty(),
                                          .head = golden.head(),
                                          .dtype = dtype});
  std::vector<Value> wanted{graph->entries[0].value, graph->layers_input};
  for (const AttentionSite& site : graph->found.sites) wanted.push_back(site.attention);
  const Pass pass = run(graph->graph, golden.model->feeds(*graph, input.batch),
                        {.keep = Keep::kEverything, .outputs = {graph->output}});
  for (const auto& targets : targets_of(golden, input)) {
    const std::string at = input.name + "." + joined(targets) + ".";
    const auto walk = [&](const char* policy, RelevanceForm form) {
      return walk_relevance(graph->graph, pass, graph->output, targets, policy_named(policy), form,
                            wanted);
    };
    for (const char* policy : {"chefer", "lrp-orig"}) {
      const auto found = walk(policy, RelevanceForm::kExplicit);
      answers.compare(found.at(graph->layers_input).to_doubles(), at + policy + ".embeddings",
                      dtype);
      for (size_t layer = 0; layer < graph->found.sites.size(); ++layer) {
        answers.compare(found.at(graph->found.sites[layer].attention).to_doubles(),
                        at + policy + ".attention." + std::to_string(layer), dtype);
      }
    }
    for (const PolicyCase& test : kSummed) {
      const auto found = walk(test.policy, test.form);
      answers.compare(summed_over_width(found.at(graph->layers_input)), at + test.answer, dtype);
      const std::string words = std::string(test.policy) + ".word_embeddings";
      if (test.form == RelevanceForm::kGradient && answers.tensors.contains(at + words)) {
        answers.compare(summed_over_width(found.at(graph->entries[0].value)), at + words, dtype);
      }
    }
  }
}

TEST_P(Relevance, OfEveryPolicyEqualsTheFormulasInDouble) {
  const GoldenModel golden(GetParam());
  const Answers answers(GetParam());
  for (const GoldenInput& input : golden.inputs) {
    const std::string key = input.name + "." + joined(input.targets) + ".chefer.embeddings";
    if (answers.tensors.contains(key)) {
      compare_policies(golden, input, answers, DType::kFloat64);
    }
  }
}

TEST_P(Relevance, OfEveryPolicyInFloatIsAsCloseAsTheReferenceInFloat) {
  const GoldenModel golden(GetParam());
  const Answers answers(GetParam());
  for (const GoldenInput& input : golden.inputs) {
    const std::string key = input.name + "." + joined(input.targets) + ".chefer.embeddings";
    if (answers.tensors.contains(key)) {
      compare_policies(golden, input, answers, DType::kFloat32);
    }
  }
}

struct MethodCase {
  const char* answer;
  const char* method;
  Options options;
};

std::vector<MethodCase> method_cases() {
  const std::pair<std::string, OptionValue> keep{"own", std::string("keep")};
  const std::string method = "transformer-attribution";
  const auto with = [&](Options more) {
    more.push_back(keep);
    return more;
  };
  const auto& presets = find_method(method).info.presets;
  const auto preset = [&](const std::string& name) {
    return std::find_if(presets.begin(), presets.end(),
                        [&](const auto& p) { return p.name == name; })
        ->values;
  };
  return {
      {"transformer-attribution", "transformer-attribution", with({})},
      {"transformer-attribution.cvpr-vit", "transformer-attribution", with(preset("cvpr-vit"))},
      {"transformer-attribution.cvpr-bert", "transformer-attribution", preset("cvpr-bert")},
      {"transformer-attribution.last-block", "transformer-attribution", with(preset("last-block"))},
      {"transformer-attribution.second-block", "transformer-attribution",
       with(preset("second-block"))},
      {"transformer-attribution.relevance-only", "transformer-attribution",
       with(preset("without-gradient"))},
      {"transformer-attribution.attention-times-relevance", "transformer-attribution",
       with({{"weight", std::string("attention")}})},
      {"partial-lrp", "partial-lrp", {}},
      {"lrp", "lrp", {}},
      {"attn-lrp.word_embeddings", "attn-lrp", {}},
      {"attn-lrp.embeddings", "attn-lrp", {{"at", std::string("first-layer")}}},
      {"cp-lrp.word_embeddings", "cp-lrp", {}}};
}

void compare_methods(const GoldenModel& golden, const Answers& answers, DType dtype) {
  for (const GoldenInput& input : golden.inputs) {
    if (input.size() > 1 || !input.batch.hidden.empty()) continue;
    for (const auto& targets : targets_of(golden, input)) {
      Run explained =
          run_of(*golden.model, input.encoding(),
                 {.head = golden.head(),
                  .needs = {.attention = true, .attention_gradient = true, .values = true},
                  .dtype = dtype});
      explained.set_target(targets[0]);
      for (const MethodCase& test : method_cases()) {
        const std::string name = input.name + "." + joined(targets) + "." + test.answer;
        if (!answers.tensors.contains(name)) continue;
        const Method& method = find_method(test.method);
        const Scores scores = method.run(explained, complete_options(method, test.options));
        answers.compare(scores.values, name, dtype);
      }
    }
  }
}

TEST_P(Relevance, MethodsEqualTheFormulasInDouble) {
  compare_methods(GoldenModel(GetParam()), Answers(GetParam()), DType::kFloat64);
}

TEST_P(Relevance, MethodsInFloatAreAsCloseAsTheReferenceInFloat) {
  compare_methods(GoldenModel(GetParam()), Answers(GetParam()), DType::kFloat32);
}

// [1, channels, rows, columns] to [rows, columns].
Doubles summed_over_channels(const Tensor& image) {
  const Tensor last = image.select(0, 0).permute({1, 2, 0}).contiguous();
  return row_sums(last.reshape({last.dim(0) * last.dim(1), last.dim(2)}));
}

void compare_vit(const std::string& name, DType dtype) {
  const Answers answers(name);
  const GoldenVit vit(answers.tensors, answers.about["config"], dtype);
  std::vector<Value> wanted{vit.pixels, vit.layers_input};
  for (const AttentionSite& site : vit.found.sites) wanted.push_back(site.attention);
  const Pass pass = run(vit.graph, vit.feeds, {.keep = Keep::kEverything, .outputs = {vit.output}});
  answers.compare(pass[vit.output].to_doubles(), "image.logits", dtype);
  ASSERT_EQ(vit.found.sites.size(), answers.about["config"]["num_hidden_layers"].get<size_t>());
  for (int64_t target = 0; target < vit.graph.shape(vit.output)[1]; ++target) {
    const std::string at = "image." + std::to_string(target) + ".";
    if (!answers.tensors.contains(at + "chefer.embeddings")) continue;
    const auto walk = [&](const char* policy, RelevanceForm form) {
      return walk_relevance(vit.graph, pass, vit.output, {target}, policy_named(policy), form,
                            wanted);
    };
    for (const char* policy : {"chefer", "lrp-orig"}) {
      const auto found = walk(policy, RelevanceForm::kExplicit);
      answers.compare(found.at(vit.layers_input).to_doubles(), at + policy + ".embeddings", dtype);
      for (size_t layer = 0; layer < vit.found.sites.size(); ++layer) {
        answers.compare(found.at(vit.found.sites[layer].attention).to_doubles(),
                        at + policy + ".attention." + std::to_string(layer), dtype);
      }
    }
    answers.compare(summed_over_channels(walk("lrp-orig", RelevanceForm::kExplicit).at(vit.pixels)),
                    at + "lrp.pixels", dtype);
    for (const PolicyCase& test : kSummed) {
      const auto found = walk(test.policy, test.form);
      answers.compare(summed_over_width(found.at(vit.layers_input)), at + test.answer, dtype);
      const std::string pixels = at + test.policy + ".pixels";
      if (test.form == RelevanceForm::kGradient && answers.tensors.contains(pixels)) {
        answers.compare(summed_over_channels(found.at(vit.pixels)), pixels, dtype);
      }
    }
  }
}

TEST(RelevanceOfPreNormImageNetworks, EqualsTheFormulas) {
  for (const char* name : {"vit-a", "vit-b"}) {
    compare_vit(name, DType::kFloat64);
    compare_vit(name, DType::kFloat32);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Relevance,
                         testing::Values("bert", "bert-relu", "roberta", "albert-shared",
                                         "distilbert", "electra"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace whyformer
