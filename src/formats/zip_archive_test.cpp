#include "formats/zip_archive.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "tests/support/golden_weights.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

std::string little(uint64_t value, size_t width) {
  return std::string(reinterpret_cast<const char*>(&value), width);
}

std::string deflated(const std::string& text) {
  std::string out(text.size() + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct ArchivePart {
  std::string name, packed;
  uint64_t size;  // as declared
  int method = 0;
  bool zip64 = false;
  int flags = 0;
};

// A zip by the tables of the specification.
std::string zip_of(const std::vector<ArchivePart>& parts) {
  std::string data, directory;
  for (const ArchivePart& part : parts) {
    const uint64_t offset = data.size();
    const uint32_t none = 0xffffffff;
    const std::string extra = little(0x5055, 2) + little(2, 2) +
                              "??" +  // some other field comes first
                              little(1, 2) + little(24, 2) + little(part.size, 8) +
                              little(part.packed.size(), 8) + little(offset, 8);
    const std::string sizes = little(part.zip64 ? none : part.packed.size(), 4) +
                              little(part.zip64 ? none : part.size, 4) +
                              little(part.name.size(), 2);
    const std::string common =
        little(20, 2) + little(part.flags, 2) + little(part.method, 2) + little(0, 8) + sizes;
    data += little(0x04034b50, 4) + common + little(3, 2) + part.name + "pad" + part.packed;
    directory += little(0x02014b50, 4) + little(20, 2) + common +
                 little(part.zip64 ? extra.size() : 0, 2) + little(0, 2) + little(0, 8) +
                 little(part.zip64 ? none : offset, 4) + part.name + (part.zip64 ? extra : "");
  }
  const std::string end = little(0x06054b50, 4) + little(0, 4) + little(parts.size(), 2) +
                          little(parts.size(), 2) + little(directory.size(), 4) +
                          little(data.size(), 4) + little(7, 2) + "comment";
  return data + directory + end;
}

std::string error_for(const std::string& file, std::string_view entry) {
  return message_of<FileError>([&] { ZipArchive(bytes_of(file), "x.zip").read(entry); });
}

TEST(ZipArchive, ReadsStoredAndDeflatedEntries) {
  const std::string text(1000, 'w');
  ZipArchive zip(
      bytes_of(zip_of({{"a", "plain", 5}, {"b", deflated(text), 1000, 8}, {"c", "", 0}})), "x.zip");
  EXPECT_EQ(zip.entries().size(), 3u);
  EXPECT_EQ(zip.read("a").text(), "plain");
  EXPECT_EQ(zip.read("b").text(), text);
  EXPECT_EQ(zip.read("b").view.data(), zip.read("b").view.data()) << "inflated once";
  EXPECT_EQ(zip.read("c").text(), "");
}

TEST(ZipArchive, TakesSizesAndOffsetsFromZip64Fields) {
  ZipArchive zip(bytes_of(zip_of({{"a", "first", 5, 0, true}, {"b", "second", 6, 0, true}})), "x");
  EXPECT_EQ(zip.read("a").text(), "first");
  EXPECT_EQ(zip.read("b").text(), "second");
}

TEST(ZipArchive, RefusesAnEntryWhichInflatesToMoreOrLessThanItSays) {
  const std::string packed = deflated(std::string(1000, 'w'));
  EXPECT_THAT(error_for(zip_of({{"a", packed, 999, 8}}), "a"),
              HasSubstr("does not inflate to 999"));
  EXPECT_THAT(error_for(zip_of({{"a", packed, 1001, 8}}), "a"), HasSubstr("does not inflate"));
  EXPECT_THAT(error_for(zip_of({{"a", "garbage", 7, 8}}), "a"), HasSubstr("does not inflate"));
}

TEST(ZipArchive, RefusesABombBeforeItGrows) {
  const std::string packed = deflated(std::string(1000, 'w'));
  EXPECT_THAT(error_for(zip_of({{"a", packed, 4'000'000'000, 8}}), "a"),
              HasSubstr("would inflate to 4000.0 MB"));
}

TEST(ZipArchive, CountsAllInflatedEntriesAgainstOneLimit) {
  const std::string packed = deflated(std::string(12'000'000, '\0'));
  ZipArchive zip(bytes_of(zip_of({{"a", packed, 12'000'000, 8}, {"b", packed, 12'000'000, 8}})),
                 "x");
  EXPECT_EQ(zip.read("a").size(), 12'000'000u);
  EXPECT_THROW(zip.read("b"), FileError);
}

TEST(ZipArchive, EveryTruncationIsRefused) {
  const std::string whole = zip_of({{"a", "plain", 5}, {"b", "more", 4, 0, true}});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(ZipArchive(bytes_of(whole.substr(0, size)), "x"), FileError) << size;
  }
}

TEST(ZipArchive, RefusesPlacesOutsideOfTheFile) {
  EXPECT_THAT(error_for(zip_of({{"a", "plain", 6}}), "a"),
              HasSubstr("a method torch.save does not"));
  std::string moved = zip_of({{"a", "plain", 5}});
  const size_t offset = moved.size() - 7 - 2 - 4;  // of the directory, before the comment
  moved.replace(offset, 4, little(0x7fffffff, 4));
  EXPECT_THAT(error_for(moved, "a"), HasSubstr("directory lies outside"));
}

TEST(ZipArchive, NamesWhatIsMissingDoubledOrEncrypted) {
  EXPECT_THAT(error_for(zip_of({{"a", "plain", 5}}), "b"), HasSubstr("no entry 'b'"));
  EXPECT_THAT(error_for(zip_of({{"a", "1", 1}, {"a", "2", 1}}), "a"), HasSubstr("two entries 'a'"));
  EXPECT_THAT(error_for(zip_of({{"a", "1", 1, 0, false, 1}}), "a"), HasSubstr("encrypted"));
}

}  // namespace
}  // namespace whyformer
