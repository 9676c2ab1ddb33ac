// What folders of text models may say, and what is refused or told.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/support/golden_model.h"
#include "tests/support/golden_weights.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

using testing::Contains;
using testing::HasSubstr;

// A golden model's parts with some keys of its config.json changed.
ModelParts with_config(const std::string& name, const nlohmann::json& changes) {
  ModelParts parts = parts_of(golden_files(name), name);
  nlohmann::json config = nlohmann::json::parse(parts.documents.at("config.json"));
  config.update(changes);
  parts.documents.at("config.json") = config.dump();
  return parts;
}

TEST(TextFolders, DecodersAreRefusedBecauseTheirMaskIsCausal) {
  for (const char* name : {"bert", "roberta", "xlm-roberta", "electra"}) {
    for (const char* key : {"is_decoder", "add_cross_attention"}) {
      SCOPED_TRACE(name);
      EXPECT_THAT(
          message_of<UnsupportedModel>([&] { Model::load(with_config(name, {{key, true}})); }),
          testing::AllOf(HasSubstr(key), HasSubstr("export the model to ONNX")));
    }
    EXPECT_NO_THROW(
        Model::load(with_config(name, {{"is_decoder", false}, {"add_cross_attention", false}})));
  }
}

// transformers drops them, too, and says so.
TEST(TextFolders, LayersThatTheConfigDoesNotAskForAreSaidToBeLeftOut) {
  const std::vector<std::pair<const char*, const char*>> cases{{"bert", "num_hidden_layers"},
                                                               {"roberta", "num_hidden_layers"},
                                                               {"electra", "num_hidden_layers"},
                                                               {"distilbert", "n_layers"}};
  for (const auto& [name, key] : cases) {
    SCOPED_TRACE(name);
    const ExplainRequest request{.methods = {{"saliency", {}}}, .target = int64_t{0}};
    const auto notes = [&](const ModelParts& parts) {
      return explain(Model::load(parts), TextInput{"w20 w21", {}}, request)[0].notes;
    };
    EXPECT_THAT(notes(with_config(name, {{key, 1}})),
                Contains(testing::ContainsRegex("left out: '.*layer[.]1'")));
    EXPECT_THAT(notes(with_config(name, nlohmann::json::object())),
                testing::Not(Contains(HasSubstr("left out: '"))));
    EXPECT_THAT(Model::load(with_config(name, {{key, 1}})).inspect().notes,
                Contains(HasSubstr("left out: '")));
  }
}

// transformers refuses it, too.
TEST(TextFolders, AVocabularyOfAnotherSizeThanItsTableIsRefused) {
  for (const char* name :
       {"bert", "roberta", "xlm-roberta", "electra", "distilbert", "albert-shared"}) {
    SCOPED_TRACE(name);
    const ModelParts own = with_config(name, nlohmann::json::object());
    const int64_t words =
        nlohmann::json::parse(own.documents.at("config.json"))["vocab_size"].get<int64_t>();
    for (const int64_t told : {int64_t{-1}, int64_t{7}, words + 1}) {
      EXPECT_THAT(
          message_of<FileError>([&] { Model::load(with_config(name, {{"vocab_size", told}})); }),
          HasSubstr(fmt::format("'vocab_size' is {}, but the table of word embeddings has {} rows",
                                told, words)));
    }
  }
}

TEST(TextFolders, AnEmptySecondTextIsRefused) {
  const Model model = Model::load(with_config("bert", nlohmann::json::object()));
  for (const char* pair : {"", " \t"}) {
    EXPECT_THAT(message_of<InvalidInput>([&] {
                  explain(model, TextInput{"w20 w21", pair}, {.methods = {{"rollout", {}}}});
                }),
                HasSubstr("the second text is empty"));
  }
}

TEST(TextFolders, NoHighestClassAtAllIsRefused) {
  ExplainRequest request{.methods = {{"rollout", {}}}};
  request.top = 0;
  EXPECT_THAT(
      message_of<InvalidInput>([&] { explain(Model::built_in(), TextInput{"good", {}}, request); }),
      HasSubstr("the number of highest classes to explain is 0"));
}

TEST(TextFolders, AHeadThatIsRefusedIsSaidToDoWhatItDoes) {
  const Model model =
      Model::load(with_config("bert", {{"architectures", {"BertForNextSentencePrediction"}}}));
  EXPECT_THAT(message_of<UnsupportedModel>([&] {
                explain(model, TextInput{"w20 w21", {}}, {.methods = {{"rollout", {}}}});
              }),
              HasSubstr("it says whether one text follows the other"));
}

TEST(TextFolders, ValuesOfTheWrongKindAreRefused) {
  for (const nlohmann::json& change :
       {nlohmann::json{{"hidden_act", 3}}, nlohmann::json{{"hidden_act", nullptr}},
        nlohmann::json{{"layer_norm_eps", "x"}}, nlohmann::json{{"layer_norm_eps", -1}}}) {
    EXPECT_THAT(message_of<FileError>([&] { Model::load(with_config("bert", change)); }),
                HasSubstr(change.begin().key() + "' must be"));
  }
}

// Words that a golden model's tokenizer knows; a template gives them types.
ModelParts with_template(ModelParts parts, int type_of_first, int type_of_second) {
  nlohmann::json tokenizer = nlohmann::json::parse(parts.documents.at("tokenizer.json"));
  const auto sequence = [](const char* id, int type) {
    return nlohmann::json{{"Sequence", {{"id", id}, {"type_id", type}}}};
  };
  tokenizer["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", {sequence("A", type_of_first)}},
      {"pair", {sequence("A", type_of_first), sequence("B", type_of_second)}},
      {"special_tokens", nlohmann::json::object()}};
  parts.documents.at("tokenizer.json") = tokenizer.dump();
  return parts;
}

ExplainRequest asking(std::vector<MethodRequest> methods) {
  ExplainRequest request;
  request.methods = std::move(methods);
  return request;
}

TEST(TextFolders, TokenTypesOutsideTheTableAreRefused) {
  const ModelParts bert = parts_of(golden_files("bert"), "bert");
  const int64_t types = bert.weights.at("bert.embeddings.token_type_embeddings.weight").shape[0];
  ASSERT_EQ(types, 2);
  const auto run = [&](int first, int second) {
    return explain(Model::load(with_template(bert, first, second)), TextInput{"w20 w21", "w22"},
                   asking({{"rollout", {}}}))[0];
  };
  EXPECT_THAT(run(0, 1).notes, testing::Not(Contains(HasSubstr("token type"))));
  EXPECT_THAT(message_of<InvalidInput>([&] { run(7, 0); }),
              HasSubstr("the tokenizer gives the token type 7, but the model's table has 2 rows"));
  EXPECT_THROW(run(0, 2), InvalidInput);
}

TEST(TextFolders, APairForAModelWithOneTokenTypeIsNoted) {
  ModelParts bert = parts_of(golden_files("bert"), "bert");
  ArrayView& types = bert.weights.at("bert.embeddings.token_type_embeddings.weight");
  types.bytes /= static_cast<size_t>(types.shape[0]);
  types.shape[0] = 1;
  const auto run = [&](const ModelParts& parts, std::optional<std::string> pair) {
    return explain(Model::load(parts), TextInput{"w20 w21", std::move(pair)},
                   asking({{"rollout", {}}}))[0];
  };
  EXPECT_THAT(run(with_template(bert, 0, 1), "w22").notes, Contains(HasSubstr("one token type")));
  EXPECT_THAT(run(with_template(bert, 0, 1), {}).notes, testing::IsEmpty());
  EXPECT_EQ(run(with_template(bert, 0, 1), "w22").output.values,
            run(with_template(bert, 0, 0), "w22").output.values);
  EXPECT_THROW(run(with_template(bert, 0, 7), "w22"), InvalidInput);
}

// What a target-less question about a model says.
std::string refusal_of(const Model& model) {
  return message_of<UnsupportedModel>(
      [&] { explain(model, TextInput{"w20 w21", {}}, asking({{"rollout", {}}})); });
}

TEST(TextFolders, WithoutATargetAModelWhoseHeadWasLeftOutIsRefused) {
  for (const char* head :
       {"BertForMultipleChoice", "BertForQuestionAnswering", "BertForTokenClassification",
        "BertForMaskedLM", "BertForPreTraining", "BertLMHeadModel"}) {
    const Model model = Model::load(with_config("bert", {{"architectures", {head}}}));
    EXPECT_THAT(refusal_of(model), testing::AllOf(HasSubstr(head), HasSubstr("choose a target"),
                                                  HasSubstr("similar to")));
    EXPECT_THROW(trace(model, TextInput{"w20 w21", {}}, {}), UnsupportedModel);
    ExplainRequest similar = asking({{"rollout", {}}});
    similar.similar_to = "w22";
    EXPECT_EQ(explain(model, TextInput{"w20 w21", {}}, similar)[0].output.space, "similarity");
  }
}

TEST(TextFolders, AHeadOfAnyOtherTaskCountsAsLeftOut) {
  ModelParts parts = with_config("bert", {{"architectures", {"BertForSomethingNew"}}});
  EXPECT_NO_THROW(explain(Model::load(parts), TextInput{"w20 w21", {}}, asking({{"rollout", {}}})))
      << "it has the weights of a classifier";
  std::erase_if(parts.weights,
                [](const auto& one) { return one.first.starts_with("classifier."); });
  EXPECT_THAT(refusal_of(Model::load(parts)), HasSubstr("BertForSomethingNew"));
}

TEST(TextFolders, WeightsTellOfAHeadWhereNoArchitectureIsNamed) {
  ModelParts parts = with_config("bert", {{"architectures", nullptr}});
  std::erase_if(parts.weights,
                [](const auto& one) { return one.first.starts_with("classifier."); });
  EXPECT_NO_THROW(explain(Model::load(parts), TextInput{"w20 w21", {}}, asking({{"rollout", {}}})))
      << "an encoder without a head";
  parts.weights.emplace("qa_outputs.weight", parts.weights.at("bert.pooler.dense.weight"));
  EXPECT_THAT(refusal_of(Model::load(parts)), HasSubstr("a head other than a classifier"));
}

TEST(TextFolders, AHeadThatDoesNotClassifyTextsIsLeftOutWithANote) {
  for (const char* head :
       {"BertForMultipleChoice", "BertForNextSentencePrediction", "BertForQuestionAnswering",
        "BertForTokenClassification", "BertForMaskedLM"}) {
    // The weights of a classifier of texts: those for multiple choice have the same names.
    const Model model = Model::load(with_config("bert", {{"architectures", {head}}}));
    ExplainRequest request = asking({{"rollout", {}}});
    request.target = int64_t{3};
    const Explanation explanation = explain(model, TextInput{"w20 w21", {}}, request)[0];
    EXPECT_EQ(explanation.output.space, "embedding");
    EXPECT_EQ(explanation.target.label, "dimension 3");
    EXPECT_THAT(explanation.notes,
                Contains(testing::AllOf(HasSubstr(head), HasSubstr("is left out"))));
    EXPECT_THAT(explanation.notes, testing::Not(Contains(HasSubstr("has no classifier"))));
  }
  const Model pairs =
      Model::load(with_config("bert", {{"architectures", {"BertForNextSentencePrediction"}}}));
  ExplainRequest of_a_dimension = asking({{"rollout", {}}});
  of_a_dimension.target = int64_t{0};
  EXPECT_THAT(explain(pairs, TextInput{"w20 w21", {}}, of_a_dimension)[0].notes,
              testing::AllOf(Contains(HasSubstr("says whether one text follows the other")),
                             testing::Not(Contains(HasSubstr("not classify")))));
  const Model plain =
      Model::load(with_config("bert", {{"architectures", {"BertForSequenceClassification"}}}));
  EXPECT_THAT(explain(plain, TextInput{"w20 w21", {}}, asking({{"rollout", {}}}))[0].notes,
              testing::IsEmpty());
}

// The same weights with one array of NaN.
ModelParts broken(const std::string& array) {
  ModelParts parts = parts_of(golden_files("bert"), "bert");
  ArrayView& view = parts.weights.at(array);
  const auto numbers = std::make_shared<std::vector<float>>(view.bytes / 4, std::nanf(""));
  view = {"F32", view.shape, std::shared_ptr<const void>(numbers, numbers->data()), view.bytes};
  return parts;
}

TEST(TextFolders, ScoresOfAModelThatGivesNanAreNanAndNoted) {
  const Model model = Model::load(broken("bert.embeddings.LayerNorm.bias"));
  int gave_scores = 0;
  for (const MethodInfo& method : methods()) {
    SCOPED_TRACE(method.name);
    Explanation explanation;
    try {
      explanation =
          explain(model, TextInput{"w20 w21 w22 w23", {}}, asking({{method.name, {}}}))[0];
    } catch (const Error&) {
      continue;  // those that have no meaning for texts, and games, which say that an output is not
                 // finite
    }
    ++gave_scores;
    const Attribution& found = explanation.attributions[0];
    const auto lost =
        std::ranges::count_if(found.scores, [](double score) { return std::isnan(score); });
    EXPECT_GE(lost, 3) << "all but the read-out token's own, which may be set to 0";
    EXPECT_THAT(found.notes, Contains(HasSubstr("scores could not be computed")));
  }
  EXPECT_GE(gave_scores, 15);
}

TEST(TextFolders, GradientsThatAreNanAreNotClampedToZero) {
  const Model model = Model::load(broken("classifier.weight"));
  for (const char* method : {"gae", "grad-sam", "grad-cam", "transformer-attribution"}) {
    SCOPED_TRACE(method);
    const Explanation explanation =
        explain(model, TextInput{"w20 w21 w22 w23", {}}, asking({{method, {}}}))[0];
    const std::vector<double>& scores = explanation.attributions[0].scores;
    EXPECT_GE(std::ranges::count_if(scores, [](double score) { return std::isnan(score); }), 3);
    EXPECT_THAT(explanation.attributions[0].notes,
                Contains(HasSubstr("scores could not be computed")));
  }
}

}  // namespace
}  // namespace whyformer
