# Writes OUTPUT, a source that defines the constants of assets.h from the files in ASSETS.
# The scripts of each page are joined in the order given by SCRIPTS, ROW_SCRIPTS and PICTURE_SCRIPTS.
function(join_scripts names result)
  set(joined "")
  string(REPLACE "," ";" names "${names}")
  foreach(name IN LISTS names)
    file(READ "${ASSETS}/${name}" part)
    string(APPEND joined "${part}")
  endforeach()
  set(${result} "${joined}" PARENT_SCOPE)
endfunction()

file(READ "${ASSETS}/page.html" page)
file(READ "${ASSETS}/page.css" style)
join_scripts("${SCRIPTS}" script)
join_scripts("${ROW_SCRIPTS}" row_script)
join_scripts("${PICTURE_SCRIPTS}" picture_script)
string(SHA256 script_hash "${script}")
string(SHA256 row_script_hash "${row_script}")
string(SHA256 picture_script_hash "${picture_script}")

file(WRITE "${OUTPUT}" "#include \"report/pages/assets.h\"\n\nnamespace whyformer::report {\n\n")
foreach(constant IN ITEMS kPageTemplate:page kPageStyle:style kPageScript:script kPageScriptSha256:script_hash
        kRowPageScript:row_script kRowPageScriptSha256:row_script_hash
        kPicturePageScript:picture_script kPicturePageScriptSha256:picture_script_hash)
  string(REPLACE ":" ";" pair "${constant}")
  list(GET pair 0 name)
  list(GET pair 1 variable)
  file(APPEND "${OUTPUT}" "const std::string_view ${name} = R\"asset(${${variable}})asset\";\n")
endforeach()
file(APPEND "${OUTPUT}" "\n}  // namespace whyformer::report\n")
