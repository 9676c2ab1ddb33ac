#include "formats/pictures/picture.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "formats/file_checks.h"
#include "formats/pictures/decoders.h"
#include "whyformer/error.h"

namespace whyformer {
namespace pictures {
namespace {

using namespace std::string_view_literals;

// What else people call a picture, so that the message can name it.
std::string_view other_kind(std::string_view file) {
  if (file.starts_with("GIF8")) return "a GIF picture";
  if (file.starts_with("BM")) return "a BMP picture";
  if (file.starts_with("II*\0"sv) || file.starts_with("MM\0*"sv)) return "a TIFF picture";
  if (file.substr(0, 12).ends_with("ftypavif")) return "an AVIF picture";
  if (file.substr(0, 10).ends_with("ftyphe")) return "a HEIC picture";
  if (file.starts_with("\0\0\0\fjP"sv)) return "a JPEG 2000 picture";
  if (file.starts_with("<svg")) return "an SVG drawing";
  if (file.starts_with("%PDF")) return "a PDF document";
  return "";
}

bool is_jpeg(std::string_view file) { return file.starts_with("\xff\xd8\xff"); }
bool is_png(std::string_view file) { return file.starts_with("\x89PNG\r\n\x1a\n"); }
bool is_webp(std::string_view file) {
  return file.starts_with("RIFF") && file.substr(0, 12).ends_with("WEBP");
}

Decoded decode(const Source& source) {
  const std::string_view file = source.text();
  if (is_jpeg(file)) return decode_jpeg(source);
  if (is_png(file)) return decode_png(source);
  if (is_webp(file)) return decode_webp(source);
  const std::string quoted = in_quotes(source.name);
  if (file.empty())
    throw FileError(fmt::format("{} is empty: give a JPEG, PNG or WebP picture", quoted));
  check_not_a_pointer(file, source.name);
  const std::string_view kind = other_kind(file);
  throw FileError(fmt::format("{} is {}: give a JPEG, PNG or WebP picture", quoted,
                              kind.empty() ? "no picture that can be read" : kind));
}

}  // namespace

Picture checked_picture(const Source& source, int64_t width, int64_t height) {
  const std::string quoted = in_quotes(source.name);
  if (width <= 0 || height <= 0) {
    throw FileError(fmt::format("{} is a picture of {} x {} pixels: there is nothing to see",
                                quoted, width, height));
  }
  const PictureLimits& limits = source.limits;
  if (width > limits.longest_side || height > limits.longest_side) {
    throw FileError(
        fmt::format("{} claims {} x {} pixels, but a side may have {} at most: scale it down",
                    quoted, width, height, limits.longest_side));
  }
  if (width * height > limits.max_pixels) {
    throw FileError(fmt::format("{} claims {} x {} pixels, more than {} million: scale it down",
                                quoted, width, height, limits.max_pixels / 1'000'000));
  }
  return {width, height, std::vector<uint8_t>(static_cast<size_t>(3 * width * height))};
}

void throw_undecodable(const Source& source, std::string_view kind, std::string_view problem) {
  throw FileError(fmt::format("{} cannot be decoded as {}: {}; download or save it again",
                              in_quotes(source.name), kind, problem));
}

}  // namespace pictures

bool begins_like_picture(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  return pictures::is_jpeg(text) || pictures::is_png(text) || pictures::is_webp(text);
}

Picture decode_picture(std::span<const std::byte> file, std::string_view name,
                       const PictureLimits& limits) {
  pictures::Decoded decoded = pictures::decode({file, name, limits});
  return pictures::turned_upright(std::move(decoded.picture), decoded.orientation);
}

Picture read_picture(const std::filesystem::path& path, const PictureLimits& limits) {
  const Bytes file = map_file(path);
  return decode_picture(file.view, path.string(), limits);
}

}  // namespace whyformer
