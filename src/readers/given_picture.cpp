#include "readers/given_picture.h"

#include <fmt/format.h>

#include "base/files.h"
#include "formats/file_checks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

void check(const PicturePixels& given) {
  constexpr PictureLimits kLimits;
  const auto refuse = [&](const std::string& what) {
    throw InvalidInput(fmt::format("the picture {} {}", in_quotes(given.name), what));
  };
  const auto fits = [](int64_t side) { return side > 0 && side <= kLimits.longest_side; };
  if (!fits(given.width) || !fits(given.height) ||
      given.width * given.height > kLimits.max_pixels) {
    refuse(fmt::format("has {} × {} pixels: each side must have 1 to {}, and the whole at most {}",
                       given.width, given.height, kLimits.longest_side, kLimits.max_pixels));
  }
  if (given.channels != 1 && given.channels != 3 && given.channels != 4) {
    refuse(fmt::format("has {} channels: give 1 (grey), 3 (RGB) or 4 (RGBA)", given.channels));
  }
  if (given.pixels == nullptr) refuse("has no pixels");
}

Picture picture_of(const PicturePixels& given) {
  check(given);
  const int64_t count = given.width * given.height;
  Picture picture{given.width, given.height, std::vector<uint8_t>(static_cast<size_t>(3 * count))};
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t* from = given.pixels.get() + i * given.channels;
    for (int colour = 0; colour < 3; ++colour) {
      picture.pixels[3 * i + colour] = from[given.channels == 1 ? 0 : colour];
    }
  }
  return picture;
}

bool names_picture(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& letter : ending)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".webp";
}

}  // namespace

bool means_picture(const std::string& argument) {
  // Sentences are longer than file names can be, or have lines.
  if (argument.empty() || argument.size() > 4096 || argument.find('\n') != argument.npos)
    return false;
  const std::filesystem::path path(argument);
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    return begins_like_picture(map_file(path).view) || names_picture(path);
  }
  return names_picture(path) && argument.find(' ') == argument.npos;
}

Picture pixels_of(const PictureInput& picture) {
  if (const auto* file = std::get_if<PictureFile>(&picture)) return read_picture(file->path);
  return picture_of(std::get<PicturePixels>(picture));
}

std::string name_of(const PictureInput& picture) {
  if (const auto* file = std::get_if<PictureFile>(&picture)) return file->path.filename().string();
  return std::get<PicturePixels>(picture).name;
}

}  // namespace whyformer
