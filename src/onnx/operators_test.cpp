#include "onnx/operators.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/bytes.h"
#include "tests/support/source_folder.h"

namespace whyformer::onnx {
namespace {

TEST(OnnxOperators, AreAllNamedInTheDocumentation) {
  const Bytes page = map_file(source_folder() / "docs" / "onnx.md");
  for (const OnnxOperator& entry : all_operators()) {
    EXPECT_NE(page.text().find(entry.kind), std::string_view::npos) << entry.kind;
  }
}

TEST(OnnxOperators, OfUnknownNamesOrDomainsAreNotFound) {
  EXPECT_NE(find_operator("", "Add"), nullptr);
  EXPECT_EQ(find_operator("", "Loop"), nullptr);
  EXPECT_EQ(find_operator("my.domain", "Add"), nullptr);
}

}  // namespace
}  // namespace whyformer::onnx
