// Reads the bytes as CoNLL-U and, if they load, looks at every word and its head.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/code_points.h"
#include "formats/conllu.h"
#include "whyformer/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whyformer;
  try {
    for (const ParsedSentence& one :
         parse_conllu({reinterpret_cast<const char*>(data), size}, 1000)) {
      const CodePointText text(one.text);
      int64_t before = 0;
      for (const DependencyWord& word : one.words) {
        if (word.head >= static_cast<int64_t>(one.words.size()) || word.head < -1) std::abort();
        if (!word.is_written()) continue;
        if (word.start < before || word.end > text.size()) std::abort();
        before = word.end;
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
