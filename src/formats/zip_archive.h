// A zip archive in memory: stored entries are views, deflated ones are inflated within bounds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace whyformer {

class ZipArchive {
 public:
  struct Entry {
    uint16_t method = 0;
    uint64_t packed_size = 0;
    uint64_t size = 0;
    uint64_t header_offset = 0;
    Bytes inflated;  // kept, so that an entry is inflated once however often it is asked for
  };

  // `what` names the file in messages. Throws FileError unless the directory is sound.
  ZipArchive(Bytes file, std::string_view what);

  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  bool has(std::string_view name) const { return entries_.contains(name); }

  // Throws FileError when there is no such entry or it cannot be had whole. Checksums are not
  // verified: torch.save may leave them out, and it would mean reading all weights twice.
  Bytes read(std::string_view name);

 private:
  void read_directory(uint64_t offset, uint64_t size, uint64_t count);
  std::string_view packed(std::string_view name, const Entry& entry) const;
  Bytes inflate_entry(std::string_view name, const Entry& entry);

  Bytes file_;
  std::string what_;
  std::map<std::string, Entry, std::less<>> entries_;
  uint64_t inflatable_;  // bytes which may still be inflated, in all
};

}  // namespace whyformer
