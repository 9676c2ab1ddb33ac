// The four kinds of error the library throws. It never prints, aborts or exits.
#pragma once

#include <stdexcept>
#include <string>

namespace whyformer {

// What would put it right, for the command line and other languages to say in their own words.
enum class Remedy {
  kNone,
  kArrays,     // give the model arrays
  kElement,    // give arrays, and choose an element of an output
  kOutput,     // choose another output
  kHidingId,   // tell the id of a hidden token
  kPicture,    // give a picture
  kRow,        // give a row of a table
  kTableSpec,  // describe the table
  kText,       // give a text
};

// Something went wrong that is not the user's doing; the base of all others.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, Remedy remedy = Remedy::kNone)
      : std::runtime_error(message), remedy_(remedy) {}

  Remedy remedy() const { return remedy_; }

 private:
  Remedy remedy_;
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
