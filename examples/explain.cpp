// Explains a sentence with the built-in model; docs/cpp.md tells how to build against the library.
#include <cstdio>
#include <string>

#include "whyformer/error.h"
#include "whyformer/model.h"
#include "whyformer/report.h"

int main(int count, char** arguments) {
  const std::string sentence = count > 1 ? arguments[1] : "I cannot wait for next time";
  try {
    const whyformer::Model model = whyformer::Model::built_in();
    whyformer::ExplainRequest request;
    request.methods = {{"gae"}, {"integrated-gradients", {{"steps", int64_t{20}}}}};

    const auto result = whyformer::explain(model, whyformer::TextInput{sentence, {}}, request);
    const whyformer::Explanation& why = result.front();

    std::printf("%s, probability %.3f\n", why.target.label.c_str(),
                why.target.probability.value_or(1));
    for (const whyformer::Attribution& attribution : why.attributions) {
      std::printf("%s\n", attribution.method.c_str());
      for (const whyformer::WordScore& word : attribution.words) {
        std::printf("  %-10s %8.4f\n", word.text.c_str(), word.score);
      }
    }
    if (count > 2) whyformer::save(arguments[2], whyformer::to_html(why));
  } catch (const whyformer::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
