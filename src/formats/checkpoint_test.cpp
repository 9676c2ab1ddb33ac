#include <gmock/gmock.h>

#include "tests/support/golden_weights.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

// A model folder in memory which notes what is asked of it.
struct Folder {
  std::map<std::string, std::string> files;
  std::vector<std::string> asked;

  FileLookup lookup() {
    return [this](std::string_view name) -> std::optional<Bytes> {
      asked.emplace_back(name);
      const auto found = files.find(std::string(name));
      if (found == files.end()) return std::nullopt;
      return bytes_of(found->second);
    };
  }
};

std::string error_for(Folder& folder) {
  return message_of<FileError>([&] { read_checkpoint(folder.lookup()); });
}

std::string index_of(const std::string& shard) {
  return R"({"weight_map":{"head":")" + shard + R"("}})";
}

TEST(Checkpoint, PutsShardsTogether) {
  expect_golden(read_checkpoint(golden_folder("shards")), "shards");
  expect_golden(read_checkpoint(golden_folder("torch_shards")), "torch_shards");
}

TEST(Checkpoint, PrefersSafetensorsToPickles) {
  Folder folder{{{"model.safetensors", golden_bytes("types.safetensors")},
                 {"pytorch_model.bin", golden_bytes("harmful.bin")}},
                {}};
  expect_golden(read_checkpoint(folder.lookup()), "types.safetensors");
  EXPECT_THAT(folder.asked, testing::ElementsAre("model.safetensors"));
}

TEST(Checkpoint, ReadsASinglePickle) {
  Folder folder{{{"pytorch_model.bin", golden_bytes("types.bin")}}, {}};
  expect_golden(read_checkpoint(folder.lookup()), "types.bin");
}

TEST(Checkpoint, SaysWhatWasLookedForWhenThereIsNothing) {
  Folder folder;
  EXPECT_EQ(error_for(folder),
            "found no weights: looked for model.safetensors, model.safetensors.index.json, "
            "pytorch_model.bin, pytorch_model.bin.index.json; download one of them");
}

TEST(Checkpoint, NeverAsksForAFileOutsideOfTheFolder) {
  for (const std::string shard :
       {"../secret", "/etc/passwd", "a/b", "..", ".", "", "a\\\\b", "a\\u0000"}) {
    Folder folder{{{"model.safetensors.index.json", index_of(shard)}}, {}};
    EXPECT_THAT(error_for(folder), HasSubstr("nothing outside the folder is read")) << shard;
    EXPECT_THAT(folder.asked,
                testing::ElementsAre("model.safetensors", "model.safetensors.index.json"));
  }
}

TEST(Checkpoint, NamesAMissingShardAndAMissingTensor) {
  Folder folder{{{"model.safetensors.index.json", index_of("part.safetensors")}}, {}};
  EXPECT_THAT(error_for(folder), HasSubstr("refers to 'part.safetensors', which is missing"));
  folder.files["part.safetensors"] = golden_bytes("types.safetensors");
  EXPECT_THAT(error_for(folder), HasSubstr("'part.safetensors' holds tensor 'head'"));
}

TEST(Checkpoint, RefusesIndexesOfAnotherForm) {
  for (const std::string& index :
       {std::string(), std::string("[]"), std::string("{"), std::string("{}"),
        std::string(R"({"weight_map":[]})"), std::string(R"({"weight_map":{"a":1}})"),
        std::string(1'000'000, '[')}) {
    Folder folder{{{"pytorch_model.bin.index.json", index}}, {}};
    EXPECT_THAT(error_for(folder), HasSubstr("'pytorch_model.bin.index.json' is malformed"));
  }
}

}  // namespace
}  // namespace whyformer
