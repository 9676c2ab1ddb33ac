// Which output of an ONNX file is explained, and that it is said.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_model.h"
#include "whyformer/error.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

using onnx::add_floats;
using onnx::add_integers;
using onnx::add_node;
using onnx::refusal;
using onnx::set_integer;
using onnx::TinyModel;
using testing::Contains;
using testing::HasSubstr;

// Rows of a table by token, and a vector of the text that is twice the row of its first token.
TinyModel with_own_vector(const std::string& name) {
  constexpr int64_t kIds = 40000;
  TinyModel model;
  model.input("input_ids", {-1, -1}, onnx::pb::TensorProto::INT64);
  std::vector<float> table(3 * kIds);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i % 13);
  add_floats(model.graph(), "table", {kIds, 3}, table);
  add_node(model.graph(), "Gather", {"table", "input_ids"}, {"last_hidden_state"});
  add_integers(model.graph(), "first", {}, {0});
  set_integer(add_node(model.graph(), "Gather", {"last_hidden_state", "first"}, {"row"}), "axis",
              1);
  add_node(model.graph(), "Add", {"row", "row"}, {name});
  model.output("last_hidden_state");
  model.output(name);
  return model;
}

// A folder with a tokenizer beside the model.
class FolderOfOutputs {
 public:
  explicit FolderOfOutputs(const TinyModel& model, const std::string& pooling = "") {
    std::filesystem::create_directory(path() / "1_Pooling");
    for (const char* file : {"tokenizer.json", "tokenizer_config.json"}) {
      std::filesystem::copy_file(source_folder() / "models/sentiment" / file, path() / file);
    }
    std::ofstream(path() / "model.onnx", std::ios::binary) << model.text();
    if (!pooling.empty()) std::ofstream(path() / "1_Pooling/config.json") << pooling;
  }

  Explanation explained(const std::string& output = "", const std::string& hidden_by = "") const {
    ExplainRequest request{.methods = {{"leave-one-out", {}}}, .target = int64_t{0}};
    if (!hidden_by.empty()) request.methods[0].options = {{"how", hidden_by}};
    return explain(Model::load(path(), {output}), TextInput{"a film", {}}, request)[0];
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  const TemporaryFolder folder_;
};

// The rows that the text's tokens have, by the table's formula.
std::vector<double> row_of_token(const Model& model, size_t token) {
  const int64_t id = model.tokenize({"a film", {}}).ids[token];
  std::vector<double> row;
  for (int64_t i = 3 * id; i < 3 * id + 3; ++i) row.push_back(static_cast<double>(i % 13));
  return row;
}

TEST(OnnxOutputs, TheFilesOwnVectorOfATextIsExplained) {
  for (const std::string name : {"sentence_embedding", "pooler_output"}) {
    const FolderOfOutputs folder(with_own_vector(name));
    const Explanation found = folder.explained();
    const std::vector<double> row = row_of_token(Model::load(folder.path()), 0);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(found.output.values.at(i), 2 * row[i]) << name;
    EXPECT_THAT(found.notes,
                Contains(HasSubstr("'" + name +
                                   "', is explained. The file also gives 'last_hidden_state'")));
  }
}

TEST(OnnxOutputs, AnotherOneIsChosenByItsName) {
  const FolderOfOutputs folder(with_own_vector("sentence_embedding"));
  const Model model = Model::load(folder.path());
  const Explanation found = folder.explained("last_hidden_state");
  const size_t tokens = model.tokenize({"a film", {}}).ids.size();
  for (size_t i = 0; i < 3; ++i) {
    double mean = 0;
    for (size_t token = 0; token < tokens; ++token)
      mean += row_of_token(model, token)[i] / static_cast<double>(tokens);
    EXPECT_NEAR(found.output.values.at(i), mean, 1e-5);
  }
  EXPECT_THAT(found.notes, Contains(HasSubstr("their mean is explained")));
  EXPECT_THAT(refusal<InvalidInput>([&] { folder.explained("pooled"); }),
              HasSubstr("its outputs are 'last_hidden_state', 'sentence_embedding'"));
}

TEST(OnnxOutputs, AFolderThatTellsHowToPoolIsBelievedBeforeAHeadOfPreTraining) {
  const std::string mean = R"({"pooling_mode_mean_tokens": true})";
  const FolderOfOutputs folder(with_own_vector("pooler_output"), mean);
  EXPECT_THAT(
      folder.explained().notes,
      Contains(HasSubstr("as 1_Pooling/config.json says. The file also gives 'pooler_output'")));
}

TEST(OnnxOutputs, AFolderOfWeightsHasNoneToChoose) {
  EXPECT_THAT(
      refusal<InvalidInput>([&] { Model::load(source_folder() / "models/sentiment", {"logits"}); }),
      HasSubstr("outputs have no names"));
}

}  // namespace
}  // namespace whyformer
