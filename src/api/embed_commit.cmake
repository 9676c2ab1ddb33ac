# Writes OUTPUT, a source that defines the constant of commit.h: the commit that is checked out in SOURCES.
set(commit "")
if(GIT AND EXISTS "${SOURCES}/.git")
  execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCES}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit STREQUAL "")
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#include "api/commit.h"

namespace whyformer {

const std::string_view kCommit = "@commit@";

}  // namespace whyformer
]])
