// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
// https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html
#include "formats/array_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/streamed_file.h"
#include "base/temporary_file.h"
#include "formats/file_checks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

// Round to nearest, ties to even; infinite above the largest one. From the double at once: a float
// in between would round twice.
uint16_t half_of(double number) {
  constexpr int kDropped = 52 - 10;  // bits of the fraction
  constexpr uint64_t kInfinite = uint64_t{0x7FF} << 52;
  constexpr uint64_t kOtherBias = uint64_t{1023 - 15} << 52;
  const auto bits = std::bit_cast<uint64_t>(number);
  const auto sign = static_cast<uint32_t>(bits >> 48 & 0x8000);
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  const double size = std::abs(number);
  if (magnitude > kInfinite) return static_cast<uint16_t>(sign | 0x7E00);
  if (size >= 65520) return static_cast<uint16_t>(sign | 0x7C00);
  if (size < 0x1p-14)  // subnormal: whole multiples of 2⁻²⁴
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(size * 0x1p24)));
  const uint64_t half_way = (uint64_t{1} << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1);
  return static_cast<uint16_t>(sign | (magnitude + half_way - kOtherBias) >> kDropped);
}

void check_finite_half(const ArrayToSave& array, double number) {
  constexpr double kLargest = 65520;  // rounds to infinity
  if (!(std::abs(number) >= kLargest) || std::isinf(number)) return;
  throw InvalidInput(
      fmt::format("{} has the number {}, and 16-bit floats end at 65504: save it in "
                  "32 bits",
                  in_quotes(array.name), number));
}

// The elements [begin, end) as the file has them.
std::string bytes_of_elements(const ArrayToSave& array, size_t begin, size_t end) {
  const size_t width = width_of(array.type);
  std::string bytes((end - begin) * width, '\0');
  for (size_t i = begin; i < end; ++i) {
    char* to = bytes.data() + (i - begin) * width;
    const double number = array.floats ? static_cast<double>(array.floats[i]) : array.doubles[i];
    if (array.type == WeightType::kF64) {
      std::memcpy(to, &number, width);
    } else if (array.type == WeightType::kF32) {
      const auto as_float = static_cast<float>(number);
      std::memcpy(to, &as_float, width);
    } else {
      check_finite_half(array, number);
      const uint16_t half = half_of(number);
      std::memcpy(to, &half, width);
    }
  }
  return bytes;
}

void add_elements(StreamedFile& file, const ArrayToSave& array) {
  constexpr size_t kAtOnce = 1 << 16;
  for (size_t begin = 0; begin < array.count(); begin += kAtOnce)
    file.add(bytes_of_elements(array, begin, std::min(array.count(), begin + kAtOnce)));
}

void check_array_names(std::span<const ArrayToSave> arrays) {
  std::set<std::string_view> names;
  for (const ArrayToSave& array : arrays) {
    if (!names.insert(array.name).second)
      throw InvalidInput(fmt::format("cannot save two arrays named {}", in_quotes(array.name)));
  }
}

std::string numpy_type(WeightType type) { return fmt::format("<f{}", width_of(type)); }

// Names of a model's files may have slashes, which would be folders. Throws InvalidInput for names
// that no folder of an array may have: ".", ".." and those of Zarr's own files.
std::string folder_name(const std::string& name) {
  std::string folder = name;
  std::ranges::replace(folder, '/', '|');
  if (folder.empty() || folder.starts_with('.') || folder.find('\0') != folder.npos) {
    throw InvalidInput(fmt::format("an array named {} cannot be a folder: save it as safetensors",
                                   in_quotes(name)));
  }
  return folder;
}

// The place of each array, checked before anything is written.
std::vector<std::string> folder_names(std::span<const ArrayToSave> arrays) {
  std::vector<std::string> names;
  for (const ArrayToSave& array : arrays) {
    names.push_back(folder_name(array.name));
    if (std::ranges::count(names, names.back()) > 1) {
      throw InvalidInput(
          fmt::format("cannot save two arrays in a folder named {}", in_quotes(names.back())));
    }
  }
  return names;
}

// A new folder beside the one that is asked for, as files have their temporary ones.
std::filesystem::path temporary_folder_beside(const std::filesystem::path& folder) {
  static std::atomic<unsigned> serial = 0;
  while (true) {
    const std::string name =
        fmt::format(".{}.{}-{}.tmp", folder.filename().string(), getpid(), serial++);
    const std::filesystem::path place = folder.parent_path() / name;
    if (mkdir(place.c_str(), 0777) == 0) return place;
    if (errno != EEXIST) fail_writing(folder, errno);
  }
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  StreamedFile file(path);
  file.add(text);
  file.finish();
}

// One chunk with everything; a number without axes is chunk "0", and no chunk has a length of 0.
void write_zarr_array(const std::filesystem::path& place, const ArrayToSave& array) {
  std::vector<int64_t> chunks = array.shape;
  for (int64_t& length : chunks) length = std::max<int64_t>(length, 1);
  const nlohmann::ordered_json about{{"zarr_format", 2},      {"shape", array.shape},
                                     {"chunks", chunks},      {"dtype", numpy_type(array.type)},
                                     {"compressor", nullptr}, {"fill_value", 0.0},
                                     {"order", "C"},          {"filters", nullptr}};
  std::filesystem::create_directory(place);
  write_text(place / ".zarray", about.dump(2) + "\n");
  write_text(place / ".zattrs",
             nlohmann::ordered_json{{"_ARRAY_DIMENSIONS", array.axes}}.dump() + "\n");
  const std::vector<int> zeros(std::max<size_t>(1, array.shape.size()), 0);
  StreamedFile chunk(place / fmt::format("{}", fmt::join(zeros, ".")));
  add_elements(chunk, array);
  chunk.finish();
}

}  // namespace

size_t ArrayToSave::count() const {
  size_t count = 1;
  for (const int64_t length : shape) count *= static_cast<size_t>(length);
  return count;
}

void save_safetensors(const std::filesystem::path& path, std::span<const ArrayToSave> arrays) {
  check_array_names(arrays);
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t begin = 0;
  for (const ArrayToSave& array : arrays) {
    const uint64_t end = begin + array.count() * width_of(array.type);
    header[array.name] = {
        {"dtype", name_of(array.type)}, {"shape", array.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // keeps the data aligned
  const uint64_t length = text.size();
  StreamedFile file(path);
  file.add({reinterpret_cast<const char*>(&length), sizeof length});
  file.add(text);
  for (const ArrayToSave& array : arrays) add_elements(file, array);
  file.finish();
}

void save_npy(const std::filesystem::path& path, const ArrayToSave& array) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   numpy_type(array.type), fmt::join(array.shape, ", "),
                                   array.shape.size() == 1 ? "," : "");
  constexpr size_t kPreamble = 10, kAlignment = 64;
  const size_t whole = (kPreamble + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(whole - kPreamble - 1, ' ');
  header += '\n';
  const auto length = static_cast<uint16_t>(header.size());
  StreamedFile file(path);
  file.add(std::string_view("\x93NUMPY\x01\x00", 8));
  file.add({reinterpret_cast<const char*>(&length), sizeof length});
  file.add(header);
  add_elements(file, array);
  file.finish();
}

void save_zarr(const std::filesystem::path& asked, std::span<const ArrayToSave> arrays) {
  namespace fs = std::filesystem;
  check_array_names(arrays);
  const std::vector<std::string> names = folder_names(arrays);
  // "values.zarr/" is the same folder, and has a name.
  const fs::path folder = asked.has_filename() ? asked : asked.parent_path();
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    throw FileError(
        fmt::format("cannot write '{}': it is there already, and a Zarr folder is written anew",
                    folder.string()));
  }
  const fs::path part = temporary_folder_beside(folder);
  try {
    write_text(part / ".zgroup", "{\"zarr_format\": 2}\n");
    for (size_t i = 0; i < arrays.size(); ++i) write_zarr_array(part / names[i], arrays[i]);
    fs::rename(part, folder);
  } catch (const fs::filesystem_error& failure) {
    fs::remove_all(part, error);
    fail_writing(folder, failure.code().value());
  } catch (...) {
    fs::remove_all(part, error);
    throw;
  }
}

}  // namespace whyformer
