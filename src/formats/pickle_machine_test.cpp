#include "formats/pickle_machine.h"

#include <gmock/gmock.h>

#include "tests/support/golden_weights.h"

namespace whyformer {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

bool ordered_dict_only(const PickleGlobal& global) {
  return global.is("collections", "OrderedDict");
}

// The values are views of the program.
Pickle run(const std::string& program) {
  ByteReader reader(program, "x.bin");
  return read_pickle(reader, ordered_dict_only);
}

std::string error_for(const std::string& program) {
  return message_of<FileError>([&] { run(program); });
}

// As Python's repr would print it, for values without cycles.
std::string shown(const Pickle& pickle, PickleId id) {
  std::string text;
  if (const auto* boolean = pickle.as<bool>(id)) return *boolean ? "True" : "False";
  if (const auto* integer = pickle.as<int64_t>(id)) return std::to_string(*integer);
  if (const auto* number = pickle.as<double>(id)) return std::to_string(*number);
  if (const auto* string = pickle.as<PickleText>(id)) return "'" + std::string(string->text) + "'";
  if (pickle.as<PickleNone>(id) != nullptr) return "None";
  if (const auto* list = pickle.as<PickleList>(id)) {
    for (const PickleId item : list->items) text += shown(pickle, item) + " ";
    return "[" + text + "]";
  }
  if (const auto* dict = pickle.as<PickleDict>(id)) {
    for (const auto& [key, value] : dict->items) {
      text += shown(pickle, key) + ":" + shown(pickle, value) + " ";
    }
    return "{" + text + "}";
  }
  return "?";
}

std::string result_of(const std::string& program) {
  const Pickle pickle = run(program);
  return shown(pickle, pickle.root);
}

// The programs below are what pickle.dumps writes for the value beside them.
TEST(PickleMachine, ReadsNumbersOfAllProtocols) {
  EXPECT_EQ(result_of("I-12\n."), "-12");
  EXPECT_EQ(result_of("I01\n."), "True");
  EXPECT_EQ(result_of("L4294967296L\n."), "4294967296");
  EXPECT_EQ(result_of("K\xff."s), "255");
  EXPECT_EQ(result_of("M\x00\x01."s), "256");
  EXPECT_EQ(result_of("J\xfe\xff\xff\xff."s), "-2");
  EXPECT_EQ(result_of("\x80\x02\x8a\x00."s), "0");
  EXPECT_EQ(result_of("\x80\x02\x8a\x02\x00\xff."s), "-256");
  EXPECT_EQ(result_of("\x80\x02\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."s), "9223372036854775807");
  EXPECT_EQ(result_of("F-0.5\n."), "-0.500000");
  EXPECT_EQ(result_of("G\x3f\xf8\x00\x00\x00\x00\x00\x00."s), "1.500000");
}

TEST(PickleMachine, KeepsIntegersOfMoreThan64BitsAsDigits) {
  const Pickle pickle =
      run("\x80\x02\x8a\x09"
          "123456789."s);
  ASSERT_NE(pickle.as<PickleLong>(pickle.root), nullptr);
}

TEST(PickleMachine, BuildsContainers) {
  // (1, [2, 3], {'a': None}, (), True)
  EXPECT_EQ(result_of("\x80\x02(K\x01]q\x00(K\x02K\x03"
                      "e}q\x01X\x01\x00\x00\x00"
                      "aNs)\x88t."s),
            "[1 [2 3 ] {'a':None } [] True ]");
  EXPECT_EQ(result_of("(lI1\na(dVk\nI2\ns\x86."s), "[[1 ] {'k':2 } ]");
  EXPECT_EQ(result_of("(K\x01K\x02K\x03K\x04"
                      "d."s),
            "{1:2 3:4 }");
  EXPECT_EQ(result_of("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00\x8f\x94(K\x01\x90."s), "[1 ]");
}

TEST(PickleMachine, MemoGivesTheSameValueAgain) {
  EXPECT_EQ(result_of("]q\x05K\x07"
                      "a0h\x05h\x05\x86."s),
            "[[7 ] [7 ] ]");
  EXPECT_EQ(result_of("]\x94K\x01\x94h\x00h\x01\x87."s), "[1 [] 1 ]");
  EXPECT_EQ(result_of("K\x09p3\n0g3\n."s), "9");
}

TEST(PickleMachine, MakesOrderedDictsOfBothPythons) {
  EXPECT_EQ(result_of("ccollections\nOrderedDict\n)RK\x01K\x02s."s), "{1:2 }");
  EXPECT_EQ(result_of("ccollections\nOrderedDict\n]]K\x01"
                      "aK\x02"
                      "aa\x85R."s),
            "{1:2 }");
  EXPECT_EQ(result_of("\x8c\x0b"
                      "collections\x8c\x0bOrderedDict\x93)R}b."s),
            "{}");
}

TEST(PickleMachine, NamesAGlobalItRefusesAndSaysThatNothingRan) {
  for (const std::string& program :
       {"cos\nsystem\nX\x04\x00\x00\x00true\x85R."s, "\x8c\x02os\x8c\x06system\x93."s}) {
    EXPECT_THAT(error_for(program), HasSubstr("refers to 'os.system'"));
    EXPECT_THAT(error_for(program), HasSubstr("nothing in the file was executed"));
  }
}

TEST(PickleMachine, RefusesInstructionsWhichMakeOtherObjects) {
  EXPECT_THAT(error_for("(ios\nsystem\n."), HasSubstr("0x69"));  // INST
  EXPECT_THAT(error_for("(o."), HasSubstr("0x6f"));              // OBJ
  EXPECT_THAT(error_for("\x82\x01."), HasSubstr("0x82"));        // EXT1
}

TEST(PickleMachine, RefusesWhatPythonRefuses) {
  for (const std::string& program : {""s,
                                     "."s,
                                     "N"s,
                                     "0."s,
                                     "t."s,
                                     "1."s,
                                     "h\x01."s,
                                     "K"s,
                                     "X\xff\xff\xff\xff."s,
                                     "K\x01K\x02"
                                     "a."s,
                                     "}K\x01K\x02K\x03u."s,
                                     "(}K\x01u."s,
                                     "]K\x01K\x02s."s,
                                     "K\x01)R."s,
                                     "\x80\x09N."s,
                                     "Ix\n."s,
                                     "I1"s,
                                     "(K\x01\x93."s,
                                     "K\x01(K\x02\x86."s,
                                     "\x8b\xff\xff\xff\xffN."s,
                                     "pz\n."s,
                                     "\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s,
                                     "\x95\xff\xff\xff\xff\xff\xff\xff\xffN."s}) {
    EXPECT_THROW(run(program), FileError) << testing::PrintToString(program);
  }
}

TEST(PickleMachine, CirclesAndDepthCostNoRecursion) {
  const Pickle circle =
      run("]q\x00h\x00"
          "a."s);
  EXPECT_EQ(circle.as<PickleList>(circle.root)->items.front(), circle.root);
  run(std::string(500'000, ']') + std::string(499'999, 'a') + ".");
}

TEST(PickleMachine, RefusesMoreValuesThanAnyCheckpointHas) {
  EXPECT_THAT(error_for(std::string(1'100'000, 'N') + "."), HasSubstr("more values"));
  EXPECT_THAT(error_for("N" + std::string(1'100'000, '\x94') + "."), HasSubstr("more values"));
}

TEST(PickleMachine, CopiesOfOneListIntoManyDictsAreBounded) {
  std::string program = "(";
  for (int i = 0; i < 100'000; ++i) program += "NN\x86";
  program +=
      "l\x85q\x01"
      "0ccollections\nOrderedDict\nq\x02";
  for (int i = 0; i < 100'000; ++i) program += "h\x02h\x01R";
  EXPECT_THAT(error_for(program + "."), HasSubstr("more values"));
}

}  // namespace
}  // namespace whyformer
