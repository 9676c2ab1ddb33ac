#include "whyformer/growing_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "whyformer/error.h"

namespace whyformer {
namespace {

namespace fs = std::filesystem;

class GrowingFiles : public testing::Test {
 protected:
  GrowingFiles() {
    std::string pattern = (fs::temp_directory_path() / "whyformer-growing-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    path = folder / "lines";
  }
  ~GrowingFiles() override { fs::remove_all(folder); }

  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  int64_t files() const {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  }

  fs::path folder, path;
};

TEST_F(GrowingFiles, HaveEachPieceAsSoonAsItIsAdded) {
  GrowingFile file(path);
  file.add("one\n");
  EXPECT_EQ(content(), "one\n");
  file.add("two\n");
  EXPECT_EQ(content(), "one\ntwo\n");
  EXPECT_EQ(files(), 1);
  file.finish();
  EXPECT_EQ(content(), "one\ntwo\n");
}

TEST_F(GrowingFiles, LeaveWhatWasThereUntilTheFirstPiece) {
  std::ofstream(path) << "old\n";
  chmod(path.c_str(), 0640);
  {
    GrowingFile file(path);
    EXPECT_EQ(content(), "old\n");
    file.add("new\n");
    EXPECT_EQ(content(), "new\n");
    struct stat status;
    stat(path.c_str(), &status);
    EXPECT_EQ(status.st_mode & 0777, 0640u);
  }
  GrowingFile nothing(path);
  nothing.finish();
  EXPECT_EQ(content(), "new\n");
}

TEST_F(GrowingFiles, KeepLinks) {
  std::ofstream(folder / "behind") << "old\n";
  fs::create_symlink("behind", path);
  GrowingFile file(path);
  file.add("one\n");
  file.finish();
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_EQ(content(), "one\n");
}

// A limit on file sizes stands for a full disk.
TEST_F(GrowingFiles, HaveNoHalfPieceWhereThereIsNoSpace) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  GrowingFile file(path);
  file.add("0123456789\n");
  const rlimit small{16, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(file.add("a second line\n"), FileError);
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(content(), "0123456789\n");
}

TEST_F(GrowingFiles, SayWhyTheyCannotBeWritten) {
  GrowingFile nowhere(folder / "missing" / "lines");
  EXPECT_THROW(nowhere.add("x"), FileError);
  GrowingFile is_folder(folder);
  EXPECT_THROW(is_folder.add("x"), FileError);
}

}  // namespace
}  // namespace whyformer
