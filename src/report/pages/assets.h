// The files of assets/, built into the library by embed_assets.cmake.
#pragma once

#include <string_view>

namespace whyformer::report {

extern const std::string_view kPageTemplate;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;        // the scripts, one after the other
extern const std::string_view kPageScriptSha256;  // hexadecimal, for the page's security policy
extern const std::string_view kRowPageScript;
extern const std::string_view kRowPageScriptSha256;
extern const std::string_view kPicturePageScript;
extern const std::string_view kPicturePageScriptSha256;

}  // namespace whyformer::report
