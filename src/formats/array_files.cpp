// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
// https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html
#include "formats/array_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/streamed_file.h"
#include "formats/file_checks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

// Round to nearest, ties to even; infinite above the largest one.
uint16_t half_of(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00);
  if (magnitude >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);
  if (magnitude < 0x38800000) {  // subnormal: whole multiples of 2⁻²⁴
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p24F;
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(scaled)));
  }
  const uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | (rounded - 0x38000000) >> 13);
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
      const uint16_t half = half_of(static_cast<float>(number));
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

// Names of a model's files may have slashes, which would be folders.
std::string folder_name(std::string name) {
  std::ranges::replace(name, '/', '|');
  return name;
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

void save_zarr(const std::filesystem::path& folder, std::span<const ArrayToSave> arrays) {
  namespace fs = std::filesystem;
  check_array_names(arrays);
  std::error_code error;
  if (fs::exists(folder, error)) {
    throw FileError(
        fmt::format("cannot write '{}': it is there already, and a Zarr folder is written anew",
                    folder.string()));
  }
  const fs::path part = fs::path(folder) += ".part";
  fs::remove_all(part, error);
  const auto write = [](const fs::path& path, const std::string& text) {
    StreamedFile file(path);
    file.add(text);
    file.finish();
  };
  try {
    fs::create_directories(part);
    write(part / ".zgroup", "{\"zarr_format\": 2}\n");
    for (const ArrayToSave& array : arrays) {
      const fs::path place = part / folder_name(array.name);
      fs::create_directory(place);
      const nlohmann::ordered_json about{{"zarr_format", 2},      {"shape", array.shape},
                                         {"chunks", array.shape}, {"dtype", numpy_type(array.type)},
                                         {"compressor", nullptr}, {"fill_value", 0.0},
                                         {"order", "C"},          {"filters", nullptr}};
      write(place / ".zarray", about.dump(2) + "\n");
      write(place / ".zattrs",
            nlohmann::ordered_json{{"_ARRAY_DIMENSIONS", array.axes}}.dump() + "\n");
      StreamedFile chunk(
          place / fmt::format("{}", fmt::join(std::vector<int>(array.shape.size(), 0), ".")));
      add_elements(chunk, array);
      chunk.finish();
    }
    fs::rename(part, folder);
  } catch (const fs::filesystem_error& failure) {
    fs::remove_all(part, error);
    throw FileError(
        fmt::format("cannot write '{}': {}", folder.string(), failure.code().message()));
  } catch (...) {
    fs::remove_all(part, error);
    throw;
  }
}

}  // namespace whyformer
