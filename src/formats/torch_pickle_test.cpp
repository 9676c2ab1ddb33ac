#include <gmock/gmock.h>

#include "tests/support/golden_weights.h"

namespace whyformer {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

StoredTensors read(const std::string& file) { return read_torch_pickle(bytes_of(file), "x.bin"); }

StoredTensors read_golden(const std::string& name) {
  return read_torch_pickle(map_file(golden_weights(name)), name);
}

template <typename Kind = FileError>
std::string error_for(const std::string& file) {
  return message_of<Kind>([&] { read(file); });
}

std::string little(uint64_t value, size_t width) {
  return std::string(reinterpret_cast<const char*>(&value), width);
}

std::string text(const std::string& content) { return "X" + little(content.size(), 4) + content; }

std::string integer(int64_t value) { return "\x8a\x08" + little(static_cast<uint64_t>(value), 8); }

std::string tuple(const std::vector<int64_t>& values) {
  std::string program = "(";
  for (const int64_t value : values) program += integer(value);
  return program + "t";
}

// The four floats 0, 1, 2, 3 in a storage, and a window on them, in a legacy file by hand.
struct StoredWindow {
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;
  int64_t storage_count = 4;
  std::string view = "N";
};

std::string storage_of(const StoredWindow& window) {
  return "(" + text("storage") + "ctorch\nFloatStorage\n" + text("key") + text("cpu") +
         integer(window.storage_count) + window.view + "tQ";
}

std::string legacy_file(const std::string& object) {
  std::string file = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  file += "\x80\x02M\xe9\x03.\x80\x02}" + text("little_endian") + "\x88s.";
  file += "\x80\x02" + object + ".\x80\x02]" + text("key") + "a." + little(4, 8);
  for (const float value : {0.0f, 1.0f, 2.0f, 3.0f}) {
    file.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return file;
}

std::string tensor_of(const StoredWindow& window) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage_of(window) + integer(window.offset) +
         tuple(window.shape) + tuple(window.strides) + "\x89}tR";
}

std::string file_of(const StoredWindow& window) {
  return legacy_file("}" + text("w") + tensor_of(window) + "s");
}

std::vector<float> values_of(const StoredWindow& window) {
  return to_float32(read(file_of(window)).at("w"));
}

TEST(TorchPickle, HoldsWhatTorchSavePutIn) {
  for (const std::string name :
       {"types.bin", "types_legacy.bin", "strided.bin", "strided_legacy.bin", "unsigned.bin",
        "noted.bin", "module.bin", "protocol1.bin", "protocol3.bin", "protocol4.bin",
        "protocol5.bin", "deflated.bin"}) {
    expect_golden(read_golden(name), name);
  }
}

TEST(TorchPickle, FindsTheStateDictBesideWhatTrainingLeaves) {
  expect_golden(read_golden("nested.bin"), "nested.bin");
}

TEST(TorchPickle, ContiguousTensorsAreViewsOfTheFile) {
  const Bytes file = map_file(golden_weights("strided.bin"));
  const StoredTensors tensors = read_torch_pickle(file, "strided.bin");
  const auto inside = [&](std::string_view name) {
    const std::byte* data = tensors.find(name)->second.data.view.data();
    return data >= file.view.data() && data < file.view.data() + file.size();
  };
  EXPECT_TRUE(inside("whole"));
  EXPECT_TRUE(inside("offset"));
  EXPECT_FALSE(inside("transposed"));
  EXPECT_EQ(tensors.at("whole").data.view.data(), tensors.at("tied").data.view.data());
}

TEST(TorchPickle, RefusesAPickleWhichCallsOsSystemAndNamesIt) {
  for (const std::string name : {"harmful.bin", "harmful_legacy.bin"}) {
    const std::string message = error_for(golden_bytes(name));
    EXPECT_THAT(message, HasSubstr("'os.system'"));
    EXPECT_THAT(message, HasSubstr("nothing in the file was executed"));
  }
}

TEST(TorchPickle, RefusesEveryGlobalWhichCouldAct) {
  for (const std::string global :
       {"builtins\neval\n", "__builtin__\neval\n", "posix\nsystem\n", "torch\nload\n",
        "torch.hub\nload\n", "torch._utils\n_import_dotted_name\n",
        "torch.storage\n_load_from_bytes\n", "torch\nhub.load\n", "torch\n\n",
        "os\nDoubleStorage\n"}) {
    EXPECT_THAT(error_for(legacy_file("c" + global)),
                HasSubstr("nothing in the file was executed"));
  }
}

TEST(TorchPickle, EveryTruncationIsAnError) {
  for (const std::string name : {"module.bin", "strided_legacy.bin"}) {
    const std::string whole = golden_bytes(name);
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THROW(read(whole.substr(0, size)), FileError) << name << " " << size;
    }
  }
}

TEST(TorchPickle, PutsStridedWindowsInRowMajorOrder) {
  using Floats = std::vector<float>;
  EXPECT_EQ(values_of({{2, 2}, {2, 1}}), (Floats{0, 1, 2, 3}));
  EXPECT_EQ(values_of({{2, 2}, {1, 2}}), (Floats{0, 2, 1, 3}));
  EXPECT_EQ(values_of({{2, 3}, {0, 1}, 1}), (Floats{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(values_of({{1, 2}, {INT64_MAX, 3}}), (Floats{0, 3}));
  EXPECT_EQ(values_of({{}, {}, 3}), (Floats{3}));
  EXPECT_EQ(values_of({{0, INT64_MAX}, {1, 1}, 99}), Floats{});
}

TEST(TorchPickle, ReadsTheViewsOfStoragesInOldFiles) {
  const std::string view = "(" + text("view") + integer(1) + integer(2) + "t";
  EXPECT_EQ(values_of({{2}, {1}, 0, 4, view}), (std::vector<float>{1, 2}));
  EXPECT_THAT(error_for(file_of({{3}, {1}, 0, 4, view})), HasSubstr("beyond the end"));
}

TEST(TorchPickle, RefusesWindowsWhichReachOutOfTheirStorage) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  for (const StoredWindow& window : std::vector<StoredWindow>{{{5}, {1}},
                                                              {{4}, {1}, 1},
                                                              {{2}, {4}},
                                                              {{2, 2}, {kHuge, kHuge}},
                                                              {{2, 2, 2}, {kHuge, kHuge, 1}},
                                                              {{1}, {1}, INT64_MAX},
                                                              {{3}, {INT64_MAX}}}) {
    EXPECT_THAT(error_for(file_of(window)), HasSubstr("'w' reaches beyond the end"));
  }
  EXPECT_THAT(error_for(file_of({{kHuge, 4}, {0, 0}})), HasSubstr("larger than any memory"));
  EXPECT_THAT(error_for(file_of({{-1}, {1}})), HasSubstr("no sound shape"));
  EXPECT_THAT(error_for(file_of({{2}, {-1}, 3})), HasSubstr("no sound shape"));
  EXPECT_THAT(error_for(file_of({{2}, {1}, -1})), HasSubstr("no place in its storage"));
  EXPECT_THAT(error_for(file_of({{2}, {1, 1}})), HasSubstr("1 dimensions but 2 strides"));
  EXPECT_THAT(error_for(file_of({{2}, {1}, 0, 5})), HasSubstr("which has 4"));
}

TEST(TorchPickle, RefusesToRepeatOneNumberWithoutBounds) {
  EXPECT_THAT(error_for(file_of({{100'000, 100'000}, {0, 0}})),
              HasSubstr("too much for this file"));
  std::string object = "}";
  const std::string tensor = tensor_of({{1'000'000}, {0}});
  for (int i = 0; i < 100; ++i) object += text(std::to_string(i)) + tensor + "s";
  EXPECT_THAT(error_for(legacy_file(object)), HasSubstr("too much for this file"));
}

TEST(TorchPickle, RefusesAKeyOfAnyLength) {
  std::string file = file_of({{1}, {1}});
  const std::string key = text("key");
  file.replace(file.find(key), key.size(), text(std::string(1000, 'k')));
  EXPECT_THAT(error_for(file), HasSubstr("not described as one"));
}

TEST(TorchPickle, MessagesAreTextEvenWhenNamesAreNot) {
  const std::string object = "}" + text("\xff\xc3") + tensor_of({{5}, {1}}) + "s";
  EXPECT_THAT(error_for(legacy_file(object)), HasSubstr("'\ufffd\ufffd' reaches beyond"));
}

TEST(TorchPickle, SaysWhatAFileWithoutNamedTensorsLacks) {
  EXPECT_THAT(error_for(legacy_file("K\x01")), HasSubstr("storage too many"));
  EXPECT_THAT(error_for(legacy_file(tensor_of({{1}, {1}}))), HasSubstr("no named tensors"));
  EXPECT_THAT(error_for(legacy_file("]" + tensor_of({{1}, {1}}) + "a")),
              HasSubstr("no named tensors"));
}

TEST(TorchPickle, AStateDictWhichHoldsItselfIsReadOnce) {
  const std::string object =
      "}q\x01" + text("w") + tensor_of({{1}, {1}}) + "s" + text("model") + "h\x01s";
  EXPECT_EQ(read(legacy_file(object)).size(), 1u);
}

TEST(TorchPickle, WhatIsAssignedLastCounts) {
  const std::string object =
      "}" + text("w") + tensor_of({{1}, {1}}) + "s" + text("w") + tensor_of({{1}, {1}, 2}) + "s";
  EXPECT_EQ(to_float32(read(legacy_file(object)).at("w")), std::vector<float>{2});
}

TEST(TorchPickle, TellsUnsupportedFromDamaged) {
  EXPECT_THAT(error_for<UnsupportedModel>(golden_bytes("complex.bin")),
              HasSubstr("'z' is stored as 'ComplexFloatStorage'"));
  std::string big_endian = file_of({{1}, {1}});
  big_endian[big_endian.find('\x88')] = '\x89';
  EXPECT_THAT(error_for<UnsupportedModel>(big_endian), HasSubstr("big-endian"));
  std::string zip = golden_bytes("module.bin");
  zip.replace(zip.find("little"), 6, "big   ");
  EXPECT_THAT(error_for<UnsupportedModel>(zip), HasSubstr("big-endian"));
}

TEST(TorchPickle, RecognisesFilesOfOtherKinds) {
  EXPECT_THAT(error_for("<html>not found</html>"), HasSubstr("not a file which torch.save wrote"));
  EXPECT_THAT(error_for("\x80\x02N."), HasSubstr("not one torch.save wrote"));
  EXPECT_THAT(error_for("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
  EXPECT_THAT(error_for(""), HasSubstr("download it again"));
}

TrainingPickle read_training(const std::string& object) {
  return read_training_pickle(bytes_of(legacy_file(object)), "x.pt");
}

// What os.system("true") would be, and an object with attributes as torch.save(model) writes it.
const std::string kHarmful = "cos\nsystem\n" + text("true") + "\x85R";
const std::string kModule = "cmine.models\nNet\n)\x81}" + text("training") + "\x88sb";

TEST(TrainingPickle, ObjectsOfOtherPackagesAreNamedAndNothingIsRun) {
  const std::string weights = "}" + text("w") + tensor_of({{4}, {1}}) + "s";
  for (const std::string wrapper : {"params", "state_dict", "model", "model_state_dict"}) {
    const TrainingPickle read =
        read_training("}" + text("optimizer") + kModule + "s" + text("trap") + kHarmful + "s" +
                      text(wrapper) + weights + "s");
    EXPECT_THAT(to_float32(read.tensors.at("w")), testing::ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(read.foreign, testing::ElementsAre("mine.models.Net", "os.system"));
  }
}

TEST(TrainingPickle, WhatIsMadeOfForeignObjectsIsForeign) {
  const std::string weights = text("w") + tensor_of({{1}, {1}}) + "s";
  // A call of what a call gave; a list and a dict of another kind; older spellings of objects.
  const std::vector<std::string> objects{kHarmful + ")R",
                                         "cmine\nList\n)\x81(NNe",
                                         "cmine\nDict\n)\x81" + text("a") + "Ns",
                                         "(Nimine\nOld\n",
                                         "(cmine\nOld\nNo",
                                         "cmine\nNew\n)}\x92",
                                         "cmine\nText\nS'quoted'\n\x85R"};
  for (const std::string& object : objects) {
    const TrainingPickle read =
        read_training("}" + text("other") + object + "s" + text("model") + "}" + weights + "s");
    EXPECT_EQ(read.tensors.size(), 1u);
    EXPECT_EQ(read.foreign.size(), 1u);
  }
}

TEST(TrainingPickle, AWholeModuleIsRefusedWithTheTwoWaysOut) {
  const std::string tensor = tensor_of({{1}, {1}});
  const std::string module = "cmine.models\nNet\n)\x81}" + text("w") + tensor + "sb";
  for (const std::string& object : {module, "cos\nsystem\n" + tensor + "\x85R"}) {
    const std::string why = message_of<UnsupportedModel>([&] { read_training(object); });
    EXPECT_THAT(why, HasSubstr(object == module ? "'mine.models.Net'" : "'os.system'"));
    EXPECT_THAT(why, HasSubstr("it was not run"));
    EXPECT_THAT(why, HasSubstr("model.state_dict()"));
    EXPECT_THAT(why, HasSubstr("load the module in Python"));
  }
}

TEST(TrainingPickle, AForeignObjectAmongTheWeightsIsRefusedByName) {
  const std::string object =
      "}" + text("w") + tensor_of({{1}, {1}}) + "s" + text("trap") + kHarmful + "s";
  const std::string why = message_of<UnsupportedModel>([&] { read_training(object); });
  EXPECT_THAT(why, HasSubstr("'trap' among its weights is a 'os.system'"));
}

TEST(TrainingPickle, PlainWeightsAreReadAsEver) {
  for (const std::string name : {"types.bin", "strided_legacy.bin", "module.bin"}) {
    const TrainingPickle read = read_training_pickle(map_file(golden_weights(name)), name);
    expect_golden(read.tensors, name);
    EXPECT_THAT(read.foreign, testing::IsEmpty());
  }
}

}  // namespace
}  // namespace whyformer
