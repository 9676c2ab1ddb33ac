// Whole explanations by relevance beside generic attention (GAE), which needs one forward and one
// backward: how many times its cost each of them has.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "best_seconds.h"
#include "methods/method.h"
#include "random_bert.h"

namespace whyformer {
namespace {

struct WalkContender {
  const char* title;
  const char* method;
  Options options;
};

double seconds(const TextReader& reader, const Encoding& encoding, const WalkContender& contender) {
  const Method& method = find_method(contender.method);
  const OptionReader options = complete_options(method, contender.options);
  return best_seconds([&] {
    Run run(reader.input_of({encoding, {}}, {}), {.needs = method.needs});
    run.set_target(1);
    method.run(run, options);
  });
}

}  // namespace
}  // namespace whyformer

int main(int argc, char** argv) {
  using namespace whyformer;
  const auto reader = random_bert();
  std::vector<int64_t> lengths;
  for (int i = 1; i < argc; ++i) lengths.push_back(std::atol(argv[i]));
  if (lengths.empty()) lengths = {16, 128};
  const std::vector<WalkContender> contenders{
      {"gae", "gae", {}},
      {"transformer-attribution", "transformer-attribution", {}},
      {"transformer-attribution, last layer",
       "transformer-attribution",
       {{"start", int64_t{-1}}, {"normalise", true}}},
      {"partial-lrp", "partial-lrp", {}},
      {"lrp", "lrp", {}},
      {"attn-lrp", "attn-lrp", {}},
      {"cp-lrp", "cp-lrp", {}}};
  for (const int64_t tokens : lengths) {
    fmt::print("{} tokens\n", tokens);
    double gae = 0;
    for (const WalkContender& contender : contenders) {
      const double took = seconds(*reader, some_tokens(tokens), contender);
      if (gae == 0) gae = took;
      fmt::print("  {:<38}{:>9.1f} ms{:>8.2f} x gae\n", contender.title, took * 1e3, took / gae);
    }
  }
  return 0;
}
