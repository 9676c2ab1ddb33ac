#include "picture_masks.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer::cli {
namespace {

namespace fs = std::filesystem;

const fs::path& file_of(const CorpusEntry& entry) {
  const auto* pair = std::get_if<PictureWithText>(&entry.input.input);
  return std::get<PictureFile>(pair != nullptr ? pair->picture
                                               : std::get<PictureInput>(entry.input.input))
      .path;
}

// Without the ending; outside of the folder only the name is left.
fs::path below(const CorpusEntry& entry) {
  fs::path path = entry.below.lexically_normal();
  if (path.is_absolute() || path.empty() || *path.begin() == "..") path = path.filename();
  return path.replace_extension();
}

fs::path png(fs::path path) { return path += ".png"; }

}  // namespace

PictureMasks::PictureMasks(fs::path folder, const std::vector<CorpusEntry>& all)
    : folder_(std::move(folder)) {
  std::error_code error;
  if (!fs::is_directory(folder_, error)) {
    throw FileError(fmt::format("cannot read '{}': there is no such folder", folder_.string()));
  }
  for (const CorpusEntry& entry : all) {
    if (!entry.problem.empty()) continue;
    const fs::path& file = file_of(entry);
    if (fs::equivalent(file.parent_path(), folder_, error)) {
      throw InvalidInput(fmt::format(
          "'{}' holds the pictures themselves: give the folder of their masks", folder_.string()));
    }
    by_path_[below(entry)].insert(file);
    by_stem_[below(entry).filename()].insert(file);
  }
}

fs::path PictureMasks::expected(const CorpusEntry& picture) const {
  return folder_ / png(below(picture));
}

std::optional<fs::path> PictureMasks::of(const CorpusEntry& picture) const {
  const fs::path own = expected(picture);
  if (fs::exists(own)) {
    refuse_if_shared(own, by_path_.at(below(picture)));
    return own;
  }
  const fs::path stem = below(picture).filename(), by_name = folder_ / png(stem);
  if (!fs::exists(by_name)) return std::nullopt;
  refuse_if_shared(by_name, by_stem_.at(stem));
  return by_name;
}

void PictureMasks::refuse_if_shared(const fs::path& mask, const Files& pictures) const {
  if (pictures.size() < 2) return;
  throw InvalidInput(fmt::format(
      "'{}' may be the mask of '{}' or of '{}': put masks into folders as the pictures "
      "are, one for each picture",
      mask.string(), pictures.begin()->string(), std::next(pictures.begin())->string()));
}

}  // namespace whyformer::cli
