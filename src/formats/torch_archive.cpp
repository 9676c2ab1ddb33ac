#include "formats/torch_archive.h"

#include <fmt/format.h>

#include <map>

#include "formats/byte_reader.h"
#include "formats/file_checks.h"
#include "formats/zip_archive.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using namespace std::string_view_literals;

// 0x1950a86a20f9469cfc6c, as pickled by protocol 2 and later, and by protocol 1.
constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;
constexpr std::string_view kMagicDecimal = "119547037146038801333356";

[[noreturn]] void refuse_big_endian(std::string_view what) {
  throw UnsupportedModel(
      fmt::format("{} was saved on a big-endian machine, which Whyformer cannot "
                  "read; save it again on a little-endian one",
                  in_quotes(what)));
}

bool none_allowed(const PickleGlobal&) { return false; }

// The entries share a folder, named after the file which was first saved.
std::string folder_in(const ZipArchive& zip, std::string_view what) {
  constexpr std::string_view kPickle = "data.pkl";
  for (const auto& [name, entry] : zip.entries()) {
    if (!name.ends_with("/data.pkl")) continue;
    const std::string folder = name.substr(0, name.size() - kPickle.size());
    if (zip.has(folder + "constants.pkl")) {
      throw UnsupportedModel(
          fmt::format("{} is a TorchScript program; save the model's state_dict "
                      "with torch.save instead",
                      in_quotes(what)));
    }
    return folder;
  }
  throw FileError(fmt::format(
      "{} is a zip archive, but not one torch.save wrote: it has no data.pkl", in_quotes(what)));
}

TorchArchive open_zip(const Bytes& file, std::string_view what, ForeignGlobals foreign) {
  const auto zip = std::make_shared<ZipArchive>(file, what);
  const std::string folder = folder_in(*zip, what);
  const std::string byte_order = folder + "byteorder";
  if (zip->has(byte_order) && zip->read(byte_order).text() != "little") refuse_big_endian(what);

  TorchArchive archive;
  archive.text = zip->read(folder + "data.pkl");
  ByteReader reader(archive.text.text(), what);
  archive.pickle = read_pickle(reader, is_tensor_global, foreign);
  archive.storages = [zip, folder](std::string_view key) {
    return zip->read(fmt::format("{}data/{}", folder, key));
  };
  return archive;
}

void check_legacy_head(ByteReader& reader) {
  const Pickle magic = read_pickle(reader, none_allowed);
  const auto* number = magic.as<PickleLong>(magic.root);
  if (number == nullptr || (number->digits != kMagic && number->digits != kMagicDecimal)) {
    throw FileError(
        fmt::format("{} is a pickle, but not one torch.save wrote", in_quotes(reader.what())));
  }
  const Pickle version = read_pickle(reader, none_allowed);
  const auto* protocol = version.as<int64_t>(version.root);
  if (protocol == nullptr || *protocol != 1001) {
    throw_damaged(reader.what(), "is malformed: it is of no known version of torch.save");
  }
  const Pickle system = read_pickle(reader, none_allowed);
  const auto* facts = system.as<PickleDict>(system.root);
  if (facts == nullptr)
    throw_damaged(reader.what(), "is malformed: it does not tell its byte order");
  for (const auto& [key, value] : facts->items) {
    const auto* name = system.as<PickleText>(key);
    const auto* little = system.as<bool>(value);
    if (name != nullptr && name->text == "little_endian" && little != nullptr && !*little) {
      refuse_big_endian(reader.what());
    }
  }
}

using Widths = std::map<std::string, size_t, std::less<>>;

// The file counts a storage's elements, and only the pickle tells how wide they are.
Widths storage_widths(const Pickle& pickle, std::string_view what) {
  Widths widths;
  for (const PickleValue& value : pickle.values) {
    if (const auto* persistent = std::get_if<PicklePersistent>(&value)) {
      const TorchStorage storage = storage_of(pickle, *persistent, what);
      if (!storage.type && !storage.is_untyped) {
        throw UnsupportedModel(fmt::format("{} has a {}, which Whyformer cannot read",
                                           in_quotes(what), in_quotes(storage.type_name)));
      }
      widths.try_emplace(std::string(storage.key), storage.width);
    }
  }
  return widths;
}

using Storages = std::map<std::string, Bytes, std::less<>>;

Storages read_storages(ByteReader& reader, const Widths& widths, const Bytes& file) {
  const Pickle keys = read_pickle(reader, none_allowed);
  const auto* list = keys.as<PickleList>(keys.root);
  if (list == nullptr) throw_damaged(reader.what(), "is malformed: it does not list its storages");
  Storages storages;
  for (size_t i = 0; i < list->items.size(); ++i) {
    const auto* key = keys.item<PickleText>(list, i);
    const auto width = key != nullptr ? widths.find(key->text) : widths.end();
    if (width == widths.end())
      throw_damaged(reader.what(), "is malformed: it has a storage too many");
    const auto count = reader.number<uint64_t>();
    if (count > reader.remaining() / width->second) {
      throw_damaged(reader.what(), fmt::format("is truncated: storage {} should have {} elements",
                                               in_quotes(key->text), count));
    }
    const std::string_view elements = reader.take(count * width->second);
    storages.try_emplace(width->first, Bytes{std::as_bytes(std::span(elements)), file.owner});
  }
  return storages;
}

TorchArchive open_legacy(const Bytes& file, std::string_view what, ForeignGlobals foreign) {
  ByteReader reader(file.text(), what);
  check_legacy_head(reader);
  TorchArchive archive;
  archive.text = file;
  archive.pickle = read_pickle(reader, is_tensor_global, foreign);
  Storages storages = read_storages(reader, storage_widths(archive.pickle, what), file);
  archive.storages = [storages = std::move(storages),
                      what = std::string(what)](std::string_view key) {
    const auto found = storages.find(key);
    if (found == storages.end()) {
      throw_damaged(what, fmt::format("is incomplete: it has no storage {}", in_quotes(key)));
    }
    return found->second;
  };
  return archive;
}

}  // namespace

TorchArchive open_torch_archive(const Bytes& file, std::string_view what, ForeignGlobals foreign) {
  if (file.text().starts_with("PK")) return open_zip(file, what, foreign);
  // The magic number comes first: after a protocol, or as decimal digits where there was none.
  if (file.text().starts_with('\x80') || file.text().starts_with('L')) {
    return open_legacy(file, what, foreign);
  }
  throw FileError(
      fmt::format("{} is not a file which torch.save wrote; download it again", in_quotes(what)));
}

}  // namespace whyformer
