// The masks of pictures: PNG files in a folder that is arranged as the pictures are.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "labelled_texts.h"

namespace whyformer::cli {

class PictureMasks {
 public:
  // `all`: every picture of the corpus, also those that are not looked at. Throws FileError where
  // there is no such folder, and InvalidInput where it is that of the pictures.
  PictureMasks(std::filesystem::path folder, const std::vector<CorpusEntry>& all);

  // The file with the picture's own path below the folder; else the one with its name alone, where
  // no other picture has that name. Nothing where there is none. Throws InvalidInput where a mask
  // may belong to several pictures.
  std::optional<std::filesystem::path> of(const CorpusEntry& picture) const;

  // Where a mask is looked for first, for messages.
  std::filesystem::path expected(const CorpusEntry& picture) const;

 private:
  using Files = std::set<std::filesystem::path>;
  void refuse_if_shared(const std::filesystem::path& mask, const Files& pictures) const;

  std::filesystem::path folder_;
  std::map<std::filesystem::path, Files> by_path_, by_stem_;  // which pictures have this one
};

}  // namespace whyformer::cli
