// Decodes the bytes as a picture, and reads them as EXIF and XMP blocks.
#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/pictures/exif.h"
#include "whyformer/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whyformer;
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  pictures::exif_orientation(text);
  pictures::xmp_orientation(text);
  try {
    // Small, so that headers which lie about the size cost little.
    decode_picture(bytes, "fuzz", {.max_pixels = 100'000, .max_memory = 10'000'000});
  } catch (const Error&) {
  }
  return 0;
}
