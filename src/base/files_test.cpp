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

}  // namespace
}  // namespace whyformer
