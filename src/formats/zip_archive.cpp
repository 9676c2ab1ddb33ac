// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, sections 4.3.7 to 4.3.16 and 4.5.3.
#include "formats/zip_archive.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "formats/byte_reader.h"
#include "formats/file_checks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr uint64_t kEndSize = 22, kEnd64LocatorSize = 20, kDirectoryEntrySize = 46;
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint16_t kZip64Field = 1;
constexpr uint32_t kIn64 = 0xffffffff;  // the real value is in a zip64 field

// Weights hardly compress; a file which grows by more than this is a bomb.
uint64_t inflate_limit(uint64_t file_size) { return 16 * file_size + (uint64_t{16} << 20); }

struct Directory {
  uint64_t offset, size, count;
};

// The end record may be followed by a comment of up to 65535 bytes.
size_t find_end(std::string_view file, std::string_view what) {
  if (file.size() >= kEndSize) {
    const size_t last = file.size() - kEndSize;
    const size_t first = last - std::min<size_t>(last, std::numeric_limits<uint16_t>::max());
    for (size_t position = last + 1; position-- > first;) {
      ByteReader reader(file.substr(position), what);
      if (reader.number<uint32_t>() != kEnd) continue;
      reader.take(16);
      if (reader.number<uint16_t>() == reader.remaining()) return position;
    }
  }
  throw_damaged(what, "is truncated: it is a zip archive without its directory, which comes last");
}

Directory find_directory(std::string_view file, std::string_view what) {
  const size_t end = find_end(file, what);
  ByteReader reader(file.substr(end), what);
  reader.take(10);
  const auto count = reader.number<uint16_t>();
  const auto size = reader.number<uint32_t>();
  const auto offset = reader.number<uint32_t>();
  if (end < kEnd64LocatorSize) return {offset, size, count};

  ByteReader locator(file.substr(end - kEnd64LocatorSize), what);
  if (locator.number<uint32_t>() != kEnd64Locator) return {offset, size, count};
  locator.take(4);
  const auto end64 = locator.number<uint64_t>();
  if (end64 > end) throw_damaged(what, "is malformed: its zip64 record lies outside it");
  ByteReader record(file.substr(end64), what);
  if (record.number<uint32_t>() != kEnd64) throw_damaged(what, "is malformed: no zip64 record");
  record.take(28);
  const auto count64 = record.number<uint64_t>();
  const auto size64 = record.number<uint64_t>();
  return {record.number<uint64_t>(), size64, count64};
}

// Fills in, in this order, those of the three which the 32-bit fields had no room for.
void read_zip64_field(std::string_view extra, ZipArchive::Entry& entry, std::string_view what) {
  ByteReader fields(extra, what);
  while (fields.remaining() >= 4) {
    const auto id = fields.number<uint16_t>();
    ByteReader field(fields.take(fields.number<uint16_t>()), what);
    if (id != kZip64Field) continue;
    if (entry.size == kIn64) entry.size = field.number<uint64_t>();
    if (entry.packed_size == kIn64) entry.packed_size = field.number<uint64_t>();
    if (entry.header_offset == kIn64) entry.header_offset = field.number<uint64_t>();
    return;
  }
}

}  // namespace

ZipArchive::ZipArchive(Bytes file, std::string_view what)
    : file_(std::move(file)), what_(what), inflatable_(inflate_limit(file_.size())) {
  const Directory directory = find_directory(file_.text(), what_);
  if (directory.offset > file_.size() || directory.size > file_.size() - directory.offset ||
      directory.count > directory.size / kDirectoryEntrySize) {
    throw_damaged(what_, "is malformed: its zip directory lies outside it");
  }
  read_directory(directory.offset, directory.size, directory.count);
}

void ZipArchive::read_directory(uint64_t offset, uint64_t size, uint64_t count) {
  ByteReader reader(file_.text().substr(offset, size), what_);
  for (uint64_t i = 0; i < count; ++i) {
    if (reader.number<uint32_t>() != kDirectoryEntry) {
      throw_damaged(what_, "is malformed: its zip directory is garbled");
    }
    Entry entry;
    reader.take(4);
    const bool encrypted = (reader.number<uint16_t>() & 1) != 0;
    entry.method = reader.number<uint16_t>();
    reader.take(8);
    entry.packed_size = reader.number<uint32_t>();
    entry.size = reader.number<uint32_t>();
    const auto name_size = reader.number<uint16_t>();
    const auto extra_size = reader.number<uint16_t>();
    const auto comment_size = reader.number<uint16_t>();
    reader.take(8);
    entry.header_offset = reader.number<uint32_t>();
    const std::string_view name = reader.take(name_size);
    read_zip64_field(reader.take(extra_size), entry, what_);
    reader.take(comment_size);
    if (encrypted) {
      throw FileError(fmt::format("{} is encrypted; unpack it first", in_quotes(what_)));
    }
    if (!entries_.emplace(name, std::move(entry)).second) {
      throw_damaged(what_, fmt::format("is malformed: it has two entries {}", in_quotes(name)));
    }
  }
}

// The local header repeats the name and may have other extra fields than the directory.
std::string_view ZipArchive::packed(std::string_view name, const Entry& entry) const {
  const std::string_view file = file_.text();
  if (entry.header_offset > file.size()) {
    throw_damaged(what_, fmt::format("is truncated: it lacks the data of {}", in_quotes(name)));
  }
  ByteReader reader(file.substr(entry.header_offset), what_);
  if (reader.number<uint32_t>() != kLocalHeader) {
    throw_damaged(what_, fmt::format("is malformed: no data where {} should be", in_quotes(name)));
  }
  reader.take(22);
  const auto name_size = reader.number<uint16_t>();
  const auto extra_size = reader.number<uint16_t>();
  reader.take(name_size);
  reader.take(extra_size);
  return reader.take(entry.packed_size);
}

Bytes ZipArchive::inflate_entry(std::string_view name, const Entry& entry) {
  const std::string_view source = packed(name, entry);
  if (entry.size > inflatable_ || entry.size > std::numeric_limits<uInt>::max() ||
      source.size() > std::numeric_limits<uInt>::max()) {
    throw FileError(
        fmt::format("{}: entry {} would inflate to {}, too much for this file; save it "
                    "again without compression",
                    in_quotes(what_), in_quotes(name), size_text(entry.size)));
  }
  inflatable_ -= entry.size;
  std::string content(entry.size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Error("zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(source.data()));
  stream.avail_in = static_cast<uInt>(source.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) {
    throw_damaged(what_, fmt::format("is malformed: its entry {} does not inflate to {} bytes",
                                     in_quotes(name), entry.size));
  }
  return bytes_of(std::move(content));
}

Bytes ZipArchive::read(std::string_view name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    throw_damaged(what_, fmt::format("is incomplete: it has no entry {}", in_quotes(name)));
  }
  Entry& entry = found->second;
  if (entry.method == kDeflated) {
    if (!entry.inflated.owner) entry.inflated = inflate_entry(name, entry);
    return entry.inflated;
  }
  if (entry.method != kStored || entry.packed_size != entry.size) {
    throw FileError(fmt::format("{}: entry {} is packed by a method torch.save does not use",
                                in_quotes(what_), in_quotes(name)));
  }
  return {std::as_bytes(std::span(packed(name, entry))), file_.owner};
}

}  // namespace whyformer
