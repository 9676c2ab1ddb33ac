// The files that a command writes.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "whyformer/files.h"

namespace whyformer::cli {

// Everything is made before anything is written: a failure leaves no half set of files.
class OutputFiles {
 public:
  // Nothing for an empty path, and for "-", which is standard output.
  template <class Make>
  void add(const std::string& path, Make make) {
    if (!path.empty() && path != "-") files_.push_back({path, make()});
  }
  void write() const { save_all(files_); }
  void name_them() const {
    for (const NamedBytes& file : files_) fmt::print(stderr, "wrote {}\n", file.path.string());
  }

 private:
  std::vector<NamedBytes> files_;
};

}  // namespace whyformer::cli
