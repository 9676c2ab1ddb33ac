// What the methods that carry relevance down to the tokens share.
#pragma once

#include <string>

#include "methods/method.h"

namespace whyformer {

// The option "at" with another default, and the option "form".
OptionInfo relevance_depth_option(std::string default_value);
OptionInfo relevance_form_option();

// Relevance at the tokens' vectors, summed over each; the place is the option "at".
Scores token_relevance(Run& run, const Run::RelevanceKind& kind, const OptionReader& options);

// The same with the form that the option "form" names.
Scores token_relevance_by_form(Run& run, const std::string& policy, const OptionReader& options);

}  // namespace whyformer
