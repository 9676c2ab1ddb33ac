// The built-in sentiment model, measured by our own engine.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "models/built_in.h"
#include "tests/support/source_folder.h"
#include "tests/support/test_text.h"

namespace whyformer {
namespace {

struct Accuracy {
  int right = 0;
  int all = 0;
  double share() const { return all > 0 ? static_cast<double>(right) / all : 0; }
};

// Lines "sentence<TAB>label" after a heading.
Accuracy accuracy_on(const std::filesystem::path& path) {
  const auto model = TestText::load(built_in_sentiment(), "sentiment");
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  Accuracy accuracy;
  while (std::getline(file, line)) {
    const size_t tab = line.rfind('\t');
    const Encoding encoding =
        model->tokenizer().encode(line.substr(0, tab), {}, model->max_tokens());
    const auto graph = model->graph({.tokens = static_cast<int64_t>(encoding.ids.size())});
    const Pass pass =
        run(graph->graph, model->feeds(*graph, {{encoding.ids}, {encoding.type_ids}, {}}),
            {.outputs = {graph->output}});
    const std::vector<double> logits = pass[graph->output].to_doubles();
    accuracy.right += (logits[1] > logits[0]) == (line.substr(tab + 1) == "1");
    ++accuracy.all;
  }
  return accuracy;
}

TEST(BuiltInModel, JudgesPlainSentencesAsPeopleDo) {
  const Accuracy accuracy = accuracy_on(source_folder() / "tests/data/sentiment.tsv");
  ASSERT_EQ(accuracy.all, 40);
  EXPECT_GE(accuracy.right, 36);
}

TEST(BuiltInModel, ReachesItsAccuracyOnTheSst2DevSet) {
  // The data is not part of the repository.
  const std::filesystem::path dev = source_folder() / "../shared/data/sst2/dev.tsv";
  if (!std::filesystem::exists(dev)) GTEST_SKIP() << "no ../shared/data/sst2/dev.tsv";
  const Accuracy accuracy = accuracy_on(dev);
  ASSERT_EQ(accuracy.all, 872);
  RecordProperty("accuracy", std::to_string(accuracy.share()));
  EXPECT_GE(accuracy.share(), 0.84) << accuracy.right << " of " << accuracy.all;
}

TEST(BuiltInModel, FitsInTwelveMegabytes) {
  uintmax_t bytes = 0;
  const auto folder = source_folder() / "models/sentiment";
  for (const auto& file : std::filesystem::directory_iterator(folder)) bytes += file.file_size();
  EXPECT_LE(bytes, 12u << 20);
}

}  // namespace
}  // namespace whyformer
