#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/support/sample_explanations.h"
#include "tests/support/sample_pictures.h"
#include "tests/support/sample_streams.h"
#include "tests/support/sample_trust.h"
#include "tests/support/source_folder.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using nlohmann::json;
using Keys = std::set<std::string>;

std::string document(const std::string& name) {
  std::ifstream file(source_folder() / "docs" / name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// "attributions[].cost.seconds" and so on; the names of options are the methods' own.
void collect_keys(const json& value, const std::string& path, Keys& keys) {
  if (value.is_array()) {
    for (const json& element : value) collect_keys(element, path + "[]", keys);
  } else if (value.is_object() && path != "attributions[].options") {
    for (const auto& [name, child] : value.items()) {
      const std::string inner = path.empty() ? name : path + "." + name;
      keys.insert(inner);
      collect_keys(child, inner, keys);
    }
  }
}

void collect_schema_keys(const json& schema, const std::string& path, Keys& keys) {
  if (schema.contains("items")) collect_schema_keys(schema["items"], path + "[]", keys);
  if (!schema.contains("properties")) return;
  for (const auto& [name, child] : schema["properties"].items()) {
    const std::string inner = path.empty() ? name : path + "." + name;
    keys.insert(inner);
    collect_schema_keys(child, inner, keys);
  }
}

// Of explanations: the section "Keys", in front of its example.
Keys keys_of_table(const std::string& text) {
  Keys keys;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line != "## Example";) {
    if (line.starts_with("| `")) keys.insert(line.substr(3, line.find('`', 3) - 3));
  }
  return keys;
}

std::string type_of(const json& value) {
  if (value.is_number_integer()) return "integer";
  return value.type_name();
}

bool has_type(const json& value, const json& type) {
  if (type.is_array()) {
    return std::any_of(type.begin(), type.end(),
                       [&](const json& one) { return has_type(value, one); });
  }
  return type_of(value) == type || (type == "number" && value.is_number());
}

// The part of JSON Schema that our schema uses.
void expect_valid(const json& value, const json& schema, const std::string& path) {
  if (schema.contains("const")) {
    EXPECT_EQ(value, schema["const"]) << path;
  }
  if (schema.contains("enum")) {
    EXPECT_THAT(schema["enum"], testing::Contains(value)) << path;
  }
  if (schema.contains("minimum")) {
    EXPECT_GE(value, schema["minimum"]) << path;
  }
  if (schema.contains("type")) {
    EXPECT_TRUE(has_type(value, schema["type"])) << path << " is " << value;
  }
  if (value.is_object()) {
    for (const json& name : schema.value("required", json::array())) {
      EXPECT_TRUE(value.contains(name)) << path << " has no " << name;
    }
    for (const auto& [name, child] : value.items()) {
      const json properties = schema.value("properties", json::object());
      const json rest = schema.value("additionalProperties", json::object());
      expect_valid(child, properties.contains(name) ? properties[name] : rest, path + "." + name);
    }
  }
  if (value.is_array() && schema.contains("items")) {
    for (const json& element : value) expect_valid(element, schema["items"], path + "[]");
  }
}

TEST(Json, HasExactlyTheDocumentedKeys) {
  Keys written;
  collect_keys(json::parse(to_json(documented_sample())), "", written);
  collect_keys(json::parse(to_json(documented_picture_sample())), "", written);
  collect_keys(json::parse(to_json(documented_streams_sample())), "", written);
  collect_keys(json::parse(to_json(trust_sample())), "", written);
  Explanation row = documented_sample();
  row.row = 3;
  row.units[1].column = "age";
  row.units[1].cell = "39";
  row.units[1].value = 39;
  row.units[1].background = {0.25, 0.5};
  row.units[2].row = 4;
  row.context = ContextFacts{.rows = 5,
                             .from = "block",
                             .mode = "frozen",
                             .hash = std::string(64, '0'),
                             .live = {1, 2},
                             .explained = {1, 2},
                             .alone = {1, 2},
                             .contexts = 5,
                             .drawn_from = 5,
                             .lowest = {1, 2},
                             .highest = {1, 2}};
  row.edits = {"zero blocks.0.mlp.output"};
  collect_keys(json::parse(to_json(row)), "", written);
  EXPECT_EQ(written, keys_of_table(document("json.md")));
}

TEST(Json, SchemaNamesExactlyTheDocumentedKeys) {
  Keys named;
  collect_schema_keys(json::parse(document("explanation.schema.json")), "", named);
  EXPECT_EQ(named, keys_of_table(document("json.md")));
}

TEST(Json, TheExampleInTheDocumentationIsRealOutput) {
  for (const Explanation& sample :
       {documented_sample(), documented_picture_sample(), documented_streams_sample()}) {
    EXPECT_THAT(document("json.md"), testing::HasSubstr("```json\n" + to_json(sample) + "\n```"));
  }
}

TEST(Json, EverySampleFollowsTheSchema) {
  const json schema = json::parse(document("explanation.schema.json"));
  for (const NamedSample& sample : all_samples()) {
    SCOPED_TRACE(sample.name);
    expect_valid(json::parse(to_json(sample.explanation)), schema, "");
  }
}

TEST(Json, NegativeIndentGivesOneLine) {
  for (const NamedSample& sample : all_samples()) {
    EXPECT_EQ(to_json(sample.explanation, -1).find('\n'), std::string::npos) << sample.name;
  }
}

TEST(Json, DoublesReadBackToTheSameBits) {
  Explanation explanation = documented_sample();
  explanation.attributions[0].scores = {
      0.1, 1.0 / 3, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308, 123456789.123456789};
  const json read = json::parse(to_json(explanation));
  EXPECT_EQ(read["attributions"][0]["scores"].get<std::vector<double>>(),
            explanation.attributions[0].scores);
}

TEST(Json, NumbersThatAreNotFiniteBecomeNull) {
  Explanation explanation = documented_sample();
  explanation.attributions[0].scores[0] = std::numeric_limits<double>::quiet_NaN();
  explanation.attributions[0].scores[1] = -std::numeric_limits<double>::infinity();
  const json scores = json::parse(to_json(explanation))["attributions"][0]["scores"];
  EXPECT_TRUE(scores[0].is_null());
  EXPECT_TRUE(scores[1].is_null());
}

TEST(Json, InvalidUtf8BecomesTheReplacementCharacter) {
  Explanation explanation = documented_sample();
  explanation.text =
      "a\xff"
      "b";
  EXPECT_EQ(json::parse(to_json(explanation))["text"],
            "a\ufffd"
            "b");
}

TEST(Json, PixelsAreLittleEndianFloatsInBase64) {
  Explanation explanation = documented_picture_sample();
  explanation.attributions[0].pixels = {1.0f, -0.0f, 0.1f, std::numeric_limits<float>::infinity()};
  // python3 -c 'import base64, struct; print(base64.b64encode(struct.pack("<4f", 1, -0.0, 0.1,
  // float("inf"))))'
  EXPECT_EQ(json::parse(to_json(explanation))["attributions"][0]["pixels"],
            "AACAPwAAAIDNzMw9AACAfw==");
}

TEST(Json, OnlyPatchesHaveARowAndAColumn) {
  const json units = json::parse(to_json(picture_sample()))["units"];
  EXPECT_FALSE(units[0].contains("row"));
  EXPECT_EQ(units[1 + 2 * 14 + 3]["row"], 2);
  EXPECT_EQ(units[1 + 2 * 14 + 3]["column"], 3);
  EXPECT_FALSE(json::parse(to_json(documented_sample()))["units"][1].contains("row"));
}

TEST(Json, AbsentPairAndProbabilityAreAbsentAndNull) {
  const json read = json::parse(to_json(regression_sample()));
  EXPECT_FALSE(read.contains("pair"));
  EXPECT_TRUE(read["target"]["probability"].is_null());
}

}  // namespace
}  // namespace whyformer::report
