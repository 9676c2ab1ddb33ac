// ops.h lists every operator: what it says is compared with the sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "ops/ops.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

namespace fs = std::filesystem;

std::string source_text(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Sources of operators by their names, tests apart.
std::map<std::string, std::string> operator_sources() {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::directory_iterator(source_folder() / "src/ops")) {
    const std::string name = entry.path().filename().string();
    if (name.find("_test") == name.npos) found[name] = source_text(entry.path());
  }
  return found;
}

std::vector<std::string> first_groups(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

TEST(OperatorList, HasEveryTypeOfOperatorInOrder) {
  EXPECT_TRUE(std::is_sorted(kOperatorKinds.begin(), kOperatorKinds.end()));
  std::set<std::string> declared{"Constant"};  // the graph's own
  for (const auto& [name, text] : operator_sources()) {
    for (std::string& kind : first_groups(text, R"RX(NamedOp<"(\w+)")RX")) declared.insert(kind);
  }
  const std::set<std::string> listed(kOperatorKinds.begin(), kOperatorKinds.end());
  EXPECT_EQ(listed.size(), kOperatorKinds.size());
  EXPECT_THAT(listed, ::testing::ContainerEq(declared));
}

TEST(OperatorList, NoOperatorIsOfATypeThatIsNotListed) {
  for (const auto& [name, text] : operator_sources()) {
    if (name == "reductions.h") continue;  // what its nine types share
    EXPECT_THAT(first_groups(text, R"(((class|struct) \w+ (final )?: (public )?Op \{))"),
                ::testing::IsEmpty())
        << name << ": derive from a type that ops.h lists";
  }
}

TEST(OperatorList, NamesTheFilesThatMakeAnOperator) {
  const auto files = operator_sources();
  const std::string list = files.at("ops.h");
  const std::regex line(R"(\n    ops::(\w+),? +// ([^\n]+))");
  size_t lines = 0;
  for (std::sregex_iterator match(list.begin(), list.end(), line), end; match != end; ++match) {
    ++lines;
    for (const std::string& file : first_groups((*match)[2], R"((\w+\.cpp))")) {
      ASSERT_TRUE(files.contains(file)) << match->str();
      EXPECT_TRUE(std::regex_search(files.at(file), std::regex("ops::" + match->str(1) + "\\b")))
          << match->str();
    }
  }
  EXPECT_EQ(lines + 1, kOperatorKinds.size());  // all but Constant
}

}  // namespace
}  // namespace whyformer
