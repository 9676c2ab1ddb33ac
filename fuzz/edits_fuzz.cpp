// Reads the bytes as edits in JSON, as a request to a probe, and as an edit and a read as people
// type them. What loads is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "whyformer/error.h"
#include "whyformer/probe.h"

namespace {

template <class Try>
void refused_or_done(const Try& attempt) {
  try {
    attempt();
  } catch (const whyformer::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whyformer;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  refused_or_done([&] {
    const std::string written = edits_to_json(edits_from_json(text));
    if (edits_to_json(edits_from_json(written)) != written) std::abort();
  });
  refused_or_done([&] {
    const std::string written = to_json(probe_request_from_json(text));
    if (to_json(probe_request_from_json(written)) != written) std::abort();
  });
  refused_or_done([&] {
    const Edit edit = parse_edit(text);
    if (!(parse_edit(to_text(edit)) == edit)) std::abort();
    const std::string written = edits_to_json({edit});  // what is no UTF-8 is replaced
    if (edits_to_json(edits_from_json(written)) != written) std::abort();
  });
  refused_or_done([&] { parse_read(text); });
  return 0;
}
