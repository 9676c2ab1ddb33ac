// Rows by the names of their columns: an FT-Transformer as an ONNX file with a table.json beside
// it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "whyformer/answers.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

const char* const kGolden = "tests/golden/onnx/models/ft-transformer.sdpa.legacy.14.onnx";

// Two numbers, one of them scaled, a number that is imputed, one that is a flag, and three words.
const char* const kSpec = R"({"schema": "whyformer.table/1",
 "model": {}, "task": {"kind": "multiclass", "labels": ["no", "yes"], "output": "logits"},
 "columns": [
  {"name": "height", "kind": "number", "input": "numbers", "at": [0],
   "steps": [{"op": "standard", "mean": 170, "scale": 10}]},
  {"name": "weight", "kind": "number", "input": "numbers", "at": [1],
   "missing": {"how": "value", "value": -1.2}},
  {"name": "smokes", "kind": "category", "input": "numbers", "at": [2, 3],
   "categories": ["no", "yes"], "ids": [0, 1], "steps": [{"op": "one-hot"}]},
  {"name": "town", "kind": "category", "input": "categories", "at": [0],
   "categories": ["Bonn", "Wien"], "ids": [0, 1]},
  {"name": "colour", "kind": "category", "input": "categories", "at": [1],
   "categories": ["blue", "red"], "ids": [0, 1], "unknown": {"how": "id", "id": 1}},
  {"name": "size", "kind": "category", "input": "categories", "at": [2],
   "categories": ["S", "L"], "ids": [0, 1], "missing": {"how": "id", "id": 1}}]})";

Model named_model(const std::string& spec = kSpec) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(source_folder() / kGolden, folder.path() / "model.onnx");
  std::ofstream(folder.path() / "table.json") << spec;
  return Model::load(folder.path());
}

NamedTable table_in(const std::string& csv) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "rows.csv";
  std::ofstream(path) << csv;
  return read_cells(path);
}

RowInput row_in(const std::string& csv) { return row_of(table_in(csv), 0); }

std::vector<double> plain_answer(const std::vector<double>& numbers) {
  static const Model model = Model::load(source_folder() / kGolden);
  return answers(model, {RowInput{{"a", "b", "c", "d", "k", "l", "m"}, numbers}}).inputs[0].values;
}

TEST(NamedRows, OfUtf16AreRefusedWithTheReason) {
  for (const std::string mark : {"\xFF\xFE", "\xFE\xFF"})
    EXPECT_THAT([&] { table_in(mark + std::string("a\0,\0b\0", 6)); },
                ThrowsMessage<FileError>(HasSubstr("UTF-16")));
  EXPECT_THAT(table_in("\xEF\xBB\xBF"
                       "a,b\n1,2\n")
                  .names,
              ElementsAre("a", "b"));
}

TEST(NamedRows, HaveTheAnswersOfTheNumbersThatTheirWordsStandFor) {
  const Model model = named_model();
  const auto answer = [&](const std::string& csv) {
    return answers(model, {row_in("height,weight,smokes,town,colour,size\n" + csv)})
        .inputs[0]
        .values;
  };
  EXPECT_EQ(answer("177,-1.2,no,Wien,blue,L\n"), plain_answer({0.7, -1.2, 1, 0, 1, 0, 1}));
  // Imputed, unknown and missing cells.
  EXPECT_EQ(answer("177,NA,yes,Wien,green,\n"), plain_answer({0.7, -1.2, 0, 1, 1, 1, 1}));
}

TEST(NamedRows, AreReadInAnyOrderAndWithAnySeparator) {
  const Model model = named_model();
  const Explanation found = explain(
      model, row_in("id;size;\"town\";smokes;weight;colour;height\n7; L ;Wien;no;-1.2;blue;177\n"),
      {.methods = {{"saliency", {}}}})[0];
  EXPECT_EQ(found.output.values, plain_answer({0.7, -1.2, 1, 0, 1, 0, 1}));
  EXPECT_THAT(found.output.labels, ElementsAre("no", "yes"));
  EXPECT_THAT(found.notes, ::testing::Contains(HasSubstr("does not read the column 'id'")));
}

TEST(NamedRows, ShowCellsAsTheyWereWritten) {
  const Model model = named_model();
  const Explanation found =
      explain(model, row_in("height,weight,smokes,town,colour,size\n177.0,NA,no,Wien,blue,L\n"),
              {.methods = {{"saliency", {}}}})[0];
  std::map<std::string, Unit> by_column;
  for (const Unit& unit : found.units) by_column[unit.column] = unit;
  EXPECT_EQ(by_column.at("height").cell, "177.0");
  EXPECT_EQ(by_column.at("height").value, 177.0);
  EXPECT_FALSE(by_column.at("height").category);
  EXPECT_EQ(by_column.at("town").text, "town = Wien");
  EXPECT_TRUE(by_column.at("town").category);
  EXPECT_EQ(by_column.at("town").value, std::nullopt);
  EXPECT_TRUE(by_column.at("weight").missing);
  EXPECT_EQ(by_column.at("weight").text, "weight = missing");
}

TEST(NamedRows, AreRefusedWhereColumnsAreMissingOrWordsAreNotKnown) {
  const Model model = named_model();
  const auto refused = [&](const std::string& csv, const std::string& why) {
    EXPECT_THAT([&] { answers(model, {row_in(csv)}); },
                ThrowsMessage<InvalidInput>(HasSubstr(why)));
  };
  refused("height,smokes,colour,size\n177,no,blue,L\n",
          "lacks 2 of the model's 6 columns: 'weight', 'town'");
  refused("height,weight,smokes,town,colour,size\n177,1,no,Wein,blue,L\n", "Wien");
  refused("height,weight,smokes,town,colour,size\ntall,1,no,Wien,blue,L\n", "tall");
}

TEST(NamedRows, NumbersThatLookStandardisedAlreadyAreToldOf) {
  const auto notes = [](const std::string& csv) {
    const TemporaryFolder folder;
    std::filesystem::copy_file(source_folder() / kGolden, folder.path() / "model.onnx");
    std::string spec = kSpec;
    spec.insert(spec.rfind('}'), R"(, "background": {"rows": "background.csv"})");
    std::ofstream(folder.path() / "table.json") << spec;
    std::ofstream(folder.path() / "background.csv") << "height,weight,smokes,town,colour,size\n"
                                                    << "160,-1,no,Wien,blue,L\n"
                                                    << "188,2,yes,Bonn,red,S\n";
    return explain(Model::load(folder.path()), row_in(csv), {.methods = {{"saliency", {}}}})[0]
        .notes;
  };
  const std::string head = "height,weight,smokes,town,colour,size\n";
  EXPECT_THAT(notes(head + "0.7,-1.2,no,Wien,blue,L\n"),
              ::testing::Contains(HasSubstr("standardised already: 'height' is 0.7 (160 to 188)")));
  EXPECT_THAT(notes(head + "177,-1.2,no,Wien,blue,L\n"),
              ::testing::Not(::testing::Contains(HasSubstr("standardised"))));
}

TEST(NamedRows, TheColumnThatThePredictionIsCalledIsToldOf) {
  std::string spec = kSpec;
  spec.insert(spec.find("\"labels\""), R"("name": "ill", )");
  const Explanation found =
      explain(named_model(spec),
              row_in("height,weight,smokes,town,colour,size,ill\n177,-1.2,no,Wien,blue,L,yes\n"),
              {.methods = {{"saliency", {}}}})[0];
  EXPECT_THAT(found.notes, ::testing::Contains("The column 'ill' is what the model predicts: it is "
                                               "not read."));
  EXPECT_THAT(found.notes, ::testing::Not(::testing::Contains(HasSubstr("ignored"))));
}

// One raw column became two numbers of the model: it is one unit and one player.
TEST(NamedRows, HideAllNumbersOfAColumnTogether) {
  const Model model = named_model();
  RowInput row = row_in("height,weight,smokes,town,colour,size\n177,-1.2,no,Wien,blue,L\n");
  const NamedTable background =
      table_in("height,weight,smokes,town,colour,size\n160,0.5,yes,Bonn,red,S\n");
  row.background = background.table;
  row.background_cells = background.cells;
  const Explanation found = explain(model, row,
                                    {.methods = {{"leave-one-out", {}}},
                                     .target = int64_t{1},
                                     .precision = Precision::kDouble})[0];
  ASSERT_EQ(std::ranges::count(found.units, false, &Unit::special), 6);
  const auto smokes = std::ranges::find(found.units, "smokes", &Unit::column);
  ASSERT_NE(smokes, found.units.end());
  const double own = plain_answer({0.7, -1.2, 1, 0, 1, 0, 1})[1];
  const double hidden = plain_answer({0.7, -1.2, 0, 1, 1, 0, 1})[1];
  EXPECT_NEAR(found.attributions[0].scores[smokes - found.units.begin()], own - hidden, 1e-5);
}

TEST(NamedRows, HideCategoriesAtTheMeanByTheMostFrequentOne) {
  const Model model = named_model();
  RowInput row = row_in("height,weight,smokes,town,colour,size\n177,-1.2,no,Wien,blue,L\n");
  const NamedTable background = table_in(
      "height,weight,smokes,town,colour,size\n"
      "160,0.5,yes,Bonn,red,S\n160,0.5,yes,Bonn,red,S\n190,0.5,no,Wien,blue,L\n");
  row.background = background.table;
  row.background_cells = background.cells;
  const Explanation found = explain(model, row,
                                    {.methods = {{"leave-one-out", {{"how", std::string("mean")}}}},
                                     .target = int64_t{1},
                                     .precision = Precision::kDouble})[0];
  const double own = plain_answer({0.7, -1.2, 1, 0, 1, 0, 1})[1];
  const auto score = [&](const std::string& column) {
    return found.attributions[0]
        .scores[std::ranges::find(found.units, column, &Unit::column) - found.units.begin()];
  };
  EXPECT_NEAR(score("town"), own - plain_answer({0.7, -1.2, 1, 0, 0, 0, 1})[1], 1e-5);
  EXPECT_NEAR(score("height"), own - plain_answer({0, -1.2, 1, 0, 1, 0, 1})[1], 1e-5);
}

TEST(NamedRows, NeedATableSpecWhosePlacesAreThoseOfTheModel) {
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = kSpec;
    return other.replace(other.find(from), from.size(), to);
  };
  EXPECT_THAT(
      [&] { named_model(with("\"at\": [1],\n   \"missing\"", "\"at\": [9],\n   \"missing\"")); },
      ThrowsMessage<FileError>(HasSubstr("no column is at place 1 of input 'numbers'")));
  EXPECT_THAT([&] { named_model(with("\"at\": [2, 3]", "\"at\": [2]")); },
              ThrowsMessage<FileError>(HasSubstr("takes 7 columns, but the table has 6")));
}

TEST(NamedRows, AreCheckedByTheProbe) {
  const std::vector<double> right = plain_answer({0.7, -1.2, 1, 0, 1, 0, 1});
  const auto with_probe = [&](double off) {
    std::string spec = kSpec;
    spec.pop_back();
    spec += R"(, "probe": {"rows": [["177", "-1.2", "no", "Wien", "blue", "L"]], "outputs": [[)" +
            std::to_string(right[0] + off) + ", " + std::to_string(right[1]) + "]]}}";
    return spec;
  };
  EXPECT_NO_THROW(named_model(with_probe(0)));
  EXPECT_THAT([&] { named_model(with_probe(0.01)); },
              ThrowsMessage<FileError>(HasSubstr("does not answer as the probe")));
}

TEST(TableOfCells, KeepsWordsAndReadsNumbers) {
  const NamedTable table = table_in("a\tb\tc\n1\tx y\t\n-2.5\t\"q\tr\"\t3\n");
  EXPECT_THAT(table.names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(table.cells, ElementsAre("1", "x y", "", "-2.5", "q\tr", "3"));
  EXPECT_EQ(table.table.values[0], 1);
  EXPECT_TRUE(std::isnan(table.table.values[1]));
  EXPECT_TRUE(std::isnan(table.table.values[2]));
  EXPECT_EQ(table.table.values[5], 3);
}

TEST(TableOfCells, NamesTheLineThatIsWrong) {
  EXPECT_THAT([&] { table_in("a,b\n1,2\n3\n"); }, ThrowsMessage<FileError>(HasSubstr("line 3")));
  EXPECT_THAT([&] { table_in("a,b\n"); }, ThrowsMessage<FileError>(HasSubstr("no rows")));
  EXPECT_THAT([&] { table_in("a,a\n1,2\n"); },
              ThrowsMessage<FileError>(HasSubstr("two columns are called 'a'")));
}

}  // namespace
}  // namespace whyformer
