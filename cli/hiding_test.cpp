// Methods that hide parts of the input, rows of tables and importance, as people call them.
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTableModel = " --model " WHYFORMER_SOURCE_DIR
                                "/tests/golden/onnx/models/ft-transformer.sdpa.legacy.14.onnx ";
const std::string kRows =
    "a,b,c,d,k,l,m\n0.5,1.2,-0.3,0.7,1,0,2\n0.1,-1.2,0.3,0.2,0,1,1\n-0.5,0.2,1.3,-0.7,2,1,0\n1.5,-"
    "0.4,0.6,0.1,1,1,1\n";

using HidingCommands = CommandLine;

nlohmann::json attribution(const CommandResult& answer) {
  return nlohmann::json::parse(answer.out).at("attributions").at(0);
}

TEST_F(HidingCommands, ShapTellsBaseValueAndErrors) {
  const CommandResult answer =
      run("explain 'I cannot wait for next time' --method permutation-shap");
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.out, HasSubstr("base "));
  EXPECT_THAT(answer.out, HasSubstr("±"));
  const nlohmann::json found =
      attribution(run("explain 'I cannot wait for next time' --method shap --json -"));
  double sum = found.at("estimate").at("base");
  for (const double score : found.at("scores")) sum += score;
  EXPECT_NEAR(sum, found.at("estimate").at("value").get<double>(), 1e-6);
  EXPECT_EQ(found.at("estimate").at("space"), "logit");
}

TEST_F(HidingCommands, CtrlCGivesTheEstimateSoFar) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += "never dull and always warm ";
  // On a slow machine there may be no estimate yet by then: try again later.
  CommandResult answer;
  for (const char* seconds : {"3", "15", "60"}) {
    answer = run(
        "explain '" + text + "' --method permutation-shap -o permutation-shap.max-evals=100000000",
        std::string("timeout --preserve-status -s INT ") + seconds);
    if (!answer.out.empty()) break;
  }
  EXPECT_EQ(answer.code, 130);
  EXPECT_THAT(answer.out, HasSubstr("stopped before the end"));
  EXPECT_THAT(answer.error, HasSubstr("interrupted"));
}

TEST_F(HidingCommands, ExplainsARowOfATable) {
  write("rows.csv", kRows);
  const nlohmann::json exact =
      attribution(run("explain" + kTableModel + "--table " + path("rows.csv") +
                      " --row 0 --method exact-shap --json -"));
  const nlohmann::json kernel =
      attribution(run("explain" + kTableModel + "--table " + path("rows.csv") +
                      " --row 0 --method kernel-shap --json -"));
  ASSERT_EQ(exact.at("scores").size(), 8u);  // a class token and seven columns
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(exact.at("scores")[i].get<double>(), kernel.at("scores")[i].get<double>(), 1e-9);
  }
}

TEST_F(HidingCommands, TakesTheBackgroundsColumnsByName) {
  write("rows.csv", kRows);
  write("background.csv", "a,b,c,d,k,l,m\n0.1,-1.2,0.3,0.2,0,1,1\n-0.5,0.2,1.3,-0.7,2,1,0\n");
  write("swapped.csv", "b,a,c,d,k,l,m\n-1.2,0.1,0.3,0.2,0,1,1\n0.2,-0.5,1.3,-0.7,2,1,0\n");
  write("other.csv", "b,z,c,d,k,l,m\n-1.2,0.1,0.3,0.2,0,1,1\n");
  const auto with = [&](const std::string& background) {
    return run("explain" + kTableModel + "--table " + path("rows.csv") +
               " --row 0 --method shap --json - --background " + path(background));
  };
  EXPECT_EQ(attribution(with("background.csv")).at("scores"),
            attribution(with("swapped.csv")).at("scores"));
  EXPECT_EQ(with("other.csv").code, 2);
  EXPECT_THAT(with("other.csv").error, HasSubstr("the background has no column 'a'"));
}

TEST_F(HidingCommands, RefusesNamesThatTwoColumnsHave) {
  write("rows.csv", kRows);
  write("twice.csv", "a,a,c,d,k,l,m\n0.1,-1.2,0.3,0.2,0,1,1\n-0.5,0.2,1.3,-0.7,2,1,0\n");
  write("empty.csv", "a,,,d,k,l,m\n0.1,-1.2,0.3,0.2,0,1,1\n");
  const std::string command = "explain" + kTableModel + "--row 0 --method shap --table ";
  expect_refusal(command + path("twice.csv"), "twice.csv, line 1: two columns are called 'a'");
  expect_refusal(command + path("twice.csv") + " --background " + path("rows.csv"),
                 "two columns are called 'a'");
  expect_refusal(command + path("rows.csv") + " --background " + path("twice.csv"),
                 "two columns are called 'a'");
  expect_refusal(command + path("empty.csv"), "two columns have an empty name");
  write("answers.csv", "a,b,c,d,k,l,m,y,y\n0.1,-1.2,0.3,0.2,0,1,1,0,1\n");
  expect_refusal("importance" + kTableModel + "--answers y --table " + path("answers.csv"),
                 "two columns are called 'y'");
}

TEST_F(HidingCommands, ExplainsEveryRowAsALine) {
  write("rows.csv", kRows);
  const CommandResult answer =
      run("explain" + kTableModel + "--table " + path("rows.csv") + " --method leave-one-out");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 4);
}

TEST_F(HidingCommands, SeveralRowsAreLinesInTheOrderInWhichTheyAreAskedFor) {
  const auto lines = [&](const std::string& rows) {
    const CommandResult answer = run("explain --method gae " + rows);
    EXPECT_EQ(answer.code, 0) << answer.error;
    std::vector<nlohmann::json> found;
    std::istringstream text(answer.out);
    for (std::string line; std::getline(text, line);) found.push_back(nlohmann::json::parse(line));
    return found;
  };
  const auto one = [&](const std::string& row) {
    return nlohmann::json::parse(run("explain --method gae --json - --row " + row).out);
  };
  const auto several = lines("--row 17,3 --row 5");
  ASSERT_EQ(several.size(), 3u);
  for (const auto& [place, row] : {std::pair(0, "17"), std::pair(1, "3"), std::pair(2, "5")})
    EXPECT_EQ(several[place]["attributions"][0]["scores"], one(row)["attributions"][0]["scores"]);
  expect_refusal("explain --method gae --row 3,x", "--row x: expected a number");
  expect_refusal("explain --method gae --row 3,", "--row : expected a number");
  expect_refusal("explain --method gae --row 3,200", "there is no row 200");
  expect_refusal("explain --method gae --row 3,4 --html " + path("rows.html"),
                 "pages and pictures show one text or row");
  expect_refusal("probe --row 3,4 --list", "--row names 2 rows");
}

TEST_F(HidingCommands, RefusesTablesThatAreNone) {
  const auto refuses = [&](const std::string& content, const std::string& message) {
    write("rows.csv", content);
    expect_refusal(
        "explain" + kTableModel + "--table " + path("rows.csv") + " --row 0 --method shap",
        message);
  };
  refuses("", "there are no rows of numbers");
  refuses("a,b\n1,2\n", "the model takes 7 columns, but the table has 2");
  refuses("a,b\n1,2\n3\n", "line 3: 1 cells where the first line has 2");
  refuses("a,b\n1,x\n", "line 2: 'x' in column 'b' is not a number");
  refuses("a,b\n1,\n", "line 2: column 'b' has no value");
  refuses("a;b\n1;2\n", "line 2: '1;2' is not a number; separate values by commas");
  refuses("a\tb\n1\t2\n", "separate values by commas, not by semicolons or tabs");
  refuses("a;b\n1,5;2\n", "2 cells where the first line has 1; separate values by commas");
  refuses("a,b\n1,1e400\n", "line 2: 1e400 in column 'b' is too large for a number");
  refuses("1e400,2\n1,2\n", "line 1: 1e400 in column 'column 0' is too large");
  refuses("a,b\n1,inf\n", "line 2: 'inf' in column 'b' is not a number");
  refuses("a,b\n1,\"2\n", "a quote is not closed");
  refuses("1,2,3,4,0,0.5,0\n1,2,3,4,0,0,0\n", "takes whole numbers, not 0.5");
  refuses("1e300,2,3,4,0,0,0\n1,2,3,4,0,0,0\n", "too large for the model");
  for (const char* method : {"", " --method shap"}) {
    expect_refusal("explain" + kTableModel + "'a text'" + method,
                   "reads rows of a table, not texts (--table FILE)");
    expect_refusal("explain" + kTableModel + method,
                   "reads rows of a table, not texts (--table FILE)");
    expect_refusal("explain" + kTableModel +
                       "--picture " WHYFORMER_SOURCE_DIR "/tests/golden/pairs/picture.png" + method,
                   "reads rows of a table, not pictures (--table FILE)");
  }
  expect_refusal("explain" + kTableModel + "--table " + path("rows.csv") + " --row 7 --method shap",
                 "there is no row 7");
}

TEST_F(HidingCommands, TellsWhatCountsOverManyTexts) {
  write("texts.txt", "I like the movie\n\nThis is so boring\n");
  const CommandResult answer =
      run("importance --file " + path("texts.txt") + " --html " + path("page.html") + " --svg " +
          path("plot.svg") + " --json " + path("summary.json"));
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.out, HasSubstr("boring"));
  EXPECT_THAT(answer.error, HasSubstr("left out line 2"));
  for (const std::string file : {"page.html", "plot.svg", "summary.json"})
    EXPECT_THAT(answer.error, HasSubstr("wrote " + path(file)));
  EXPECT_THAT(read("page.html"), HasSubstr("<svg"));
  EXPECT_THAT(read("plot.svg"), HasSubstr("boring"));
  EXPECT_EQ(nlohmann::json::parse(read("summary.json")).at("schema"), "whyformer.summary/1");
}

TEST_F(HidingCommands, TellsWhichColumnsAModelNeeds) {
  write("rows.csv",
        "a,b,c,d,k,l,m,y\n0.5,1.2,-0.3,0.7,1,0,2,0\n0.1,-1.2,0.3,0.2,0,1,1,1\n-0.5,0.2,1.3,-0.7,2,"
        "1,0,1\n");
  for (const std::string method : {"permutation", "sage"}) {
    const CommandResult answer = run("importance" + kTableModel + "--table " + path("rows.csv") +
                                     " --answers y --json - --method " + method);
    EXPECT_EQ(answer.code, 0) << answer.error;
    const auto found = nlohmann::json::parse(answer.out);
    EXPECT_EQ(found.at("method"), method);
    EXPECT_EQ(found.at("columns").size(), 7u);
  }
  expect_refusal("importance" + kTableModel + "--table " + path("rows.csv") + " --answers z",
                 "has no column 'z'");
  expect_refusal("importance --method sage --file " + path("rows.csv"), "--answers COLUMN");
  expect_refusal("importance", "no input: --file");
}

TEST_F(HidingCommands, ShowsFourImportancesSideBySide) {
  write("rows.csv",
        "a,b,c,d,k,l,m,y\n0.5,1.2,-0.3,0.7,1,0,2,0\n0.1,-1.2,0.3,0.2,0,1,1,1\n-0.5,0.2,1.3,-0.7,2,"
        "1,0,1\n");
  const std::string command = "importance --all" + kTableModel + "--table " + path("rows.csv") +
                              " --answers y --html " + path("page.html") + " --json " +
                              path("all.json");
  const CommandResult answer = run(command);
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(read("all.json"));
  std::vector<std::string> methods;
  for (const auto& one : json.at("importances")) {
    methods.push_back(one.at("method"));
    ASSERT_EQ(one.at("columns").size(), 7u);
    EXPECT_FALSE(one.at("columns")[0].at("low").is_null());
    double ranks = 0;  // ties share theirs, which leaves the sum
    for (const auto& column : one.at("columns")) ranks += column.at("rank").get<double>();
    EXPECT_EQ(ranks, 28);
  }
  EXPECT_THAT(methods,
              testing::ElementsAre("raw-attention:gorishniy", "shap", "permutation", "sage"));
  EXPECT_THAT(answer.out, HasSubstr("Importances of the columns"));
  EXPECT_THAT(read("page.html"), HasSubstr("raw-attention:gorishniy"));
  expect_refusal("importance --all" + kTableModel + "--table " + path("rows.csv"),
                 "--answers COLUMN");
}

}  // namespace
}  // namespace whyformer::cli
