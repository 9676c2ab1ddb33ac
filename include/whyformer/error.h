// The four kinds of error the library throws. It never prints, aborts or exits.
#pragma once

#include <stdexcept>
#include <string>

namespace whyformer {

// Something went wrong that is not the user's doing; the base of all others.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller asked for something impossible: a wrong option, target, shape or text.
class InvalidInput : public Error {
 public:
  using Error::Error;
};

// The file is sound but describes a model that Whyformer cannot run.
class UnsupportedModel : public Error {
 public:
  using Error::Error;
};

// A file is missing, unreadable, truncated or malformed.
class FileError : public Error {
 public:
  using Error::Error;
};

}  // namespace whyformer
