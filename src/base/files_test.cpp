#include "base/files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "whyformer/error.h"

namespace whyformer {
namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::Test {
 protected:
  WriteFile() {
    std::string pattern = (fs::temp_directory_path() / "whyformer-files-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~WriteFile() override { fs::remove_all(folder); }

  static std::string content_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder))
      found.push_back(entry.path().filename());
    return found;
  }

  fs::path folder;
};

TEST_F(WriteFile, WritesAndReplacesWithoutLeavingAnythingElse) {
  const std::string large(3'000'000, 'x');
  write_file(folder / "a", large);
  EXPECT_EQ(content_of(folder / "a"), large);
  write_file(folder / "a", "short");
  EXPECT_EQ(content_of(folder / "a"), "short");
  EXPECT_THAT(names(), testing::ElementsAre("a"));
}

TEST_F(WriteFile, ReadersOfTheOldFileKeepIt) {
  write_file(folder / "a", "old");
  std::ifstream reader(folder / "a");
  write_file(folder / "a", "new");
  std::string text;
  reader >> text;
  EXPECT_EQ(text, "old");
}

TEST_F(WriteFile, NamesThePathAndTheReason) {
  try {
    write_file(folder / "missing" / "a", "x");
    FAIL() << "nothing was thrown";
  } catch (const FileError& error) {
    EXPECT_EQ(std::string(error.what()), "cannot write '" + (folder / "missing" / "a").string() +
                                             "': No such file or directory");
  }
}

TEST_F(WriteFile, AFolderInTheWayStaysAndNothingIsLeftBehind) {
  fs::create_directory(folder / "a");
  EXPECT_THROW(write_file(folder / "a", "x"), FileError);
  EXPECT_THAT(names(), testing::ElementsAre("a"));
}

TEST_F(WriteFile, KeepsTheModeOfTheFileItReplaces) {
  write_file(folder / "a", "old");
  fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::owner_write);
  write_file(folder / "a", "new");
  EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(WriteFile, ALinkStaysALink) {
  write_file(folder / "real", "old");
  fs::create_symlink("real", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(content_of(folder / "real"), "new");
}

TEST_F(WriteFile, ALinkToWhatIsNotThereYetStaysALink) {
  fs::create_symlink("later", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(content_of(folder / "later"), "new");
}

TEST_F(WriteFile, ADeviceIsWrittenToAndNotReplaced) {
  fs::create_symlink("/dev/null", folder / "sink");
  write_file(folder / "sink", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_TRUE(fs::is_symlink(folder / "sink"));
}

TEST_F(WriteFile, APathWithoutAFolderIsInTheCurrentOne) {
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  write_file("plain", "x");
  fs::current_path(before);
  EXPECT_EQ(content_of(folder / "plain"), "x");
}

TEST_F(WriteFile, WhereOneOfSeveralCannotBeWrittenNoneIs) {
  write_file(folder / "a", "old");
  fs::create_directory(folder / "folder");
  for (const fs::path& bad : {folder / "missing" / "x", folder / "folder", fs::path("/dev/full")}) {
    const FileContent files[] = {{folder / "a", "new"}, {folder / "b", "new"}, {bad, "x"}};
    EXPECT_THROW(write_files(files), FileError);
    EXPECT_EQ(content_of(folder / "a"), "old");
    EXPECT_THAT(names(), testing::UnorderedElementsAre("a", "folder"));
  }
  const FileContent files[] = {{folder / "a", "1"}, {folder / "b", "2"}};
  write_files(files);
  EXPECT_EQ(content_of(folder / "a") + content_of(folder / "b"), "12");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("a", "b", "folder"));
}

// A folder with a model's files, or with what stands in their place.
using ReadFile = WriteFile;

std::string refusal(const FileLookup& files, const char* name) {
  try {
    files(name);
  } catch (const FileError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(ReadFile, APipeIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(files_in(folder), "pipe"),
            "cannot read '" + (folder / "pipe").string() + "': it is not a file");
}

TEST_F(ReadFile, ADeviceAndAFolderAreRefused) {
  fs::create_symlink("/dev/zero", folder / "device");
  fs::create_directory(folder / "inner");
  EXPECT_THAT(refusal(files_in(folder), "device"), testing::HasSubstr("it is not a file"));
  EXPECT_THAT(refusal(files_in(folder), "inner"), testing::HasSubstr("it is not a file"));
}

TEST_F(ReadFile, ALinkToItselfIsRefusedAndALinkToNothingIsNoFile) {
  fs::create_symlink("circle", folder / "circle");
  fs::create_symlink("gone", folder / "dangling");
  EXPECT_THAT(refusal(files_in(folder), "circle"),
              testing::HasSubstr("circle': Too many levels of symbolic links"));
  EXPECT_FALSE(files_in(folder)("dangling"));
}

}  // namespace
}  // namespace whyformer
