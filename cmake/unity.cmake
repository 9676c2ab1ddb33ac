# Unity builds: about a dozen sources are compiled at once, which parses the headers they share once. CMake's own unity
# builds name the sources by absolute paths, so that a compiler cache never serves a second clone; these name them by
# relative ones.
option(WHYFORMER_UNITY "Compile several sources at once" OFF)

# whyformer_sources(target groups sources...): the sources of one folder become part of the target. They are much alike and
# use the same private names (kOperators, classify), so each goes to a group where none of the others is. The group depends
# on the file's name, so that a new file changes its own group and hardly another.
function(whyformer_sources target groups)
  if(NOT WHYFORMER_UNITY)
    target_sources(${target} PRIVATE ${ARGN})
    return()
  endif()
  set(taken "")
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    string(MD5 hash "${name}")
    string(SUBSTRING "${hash}" 0 6 hash)
    math(EXPR group "0x${hash} % ${groups}")
    while(group IN_LIST taken)
      math(EXPR group "(${group} + 1) % ${groups}")
    endwhile()
    list(APPEND taken ${group})
    list(LENGTH taken count)
    if(count EQUAL groups)
      set(taken "")
    endif()
    set_property(TARGET ${target} APPEND PROPERTY WHYFORMER_GROUP_${group} ${source})
  endforeach()
endfunction()

# Writes the groups; after the last whyformer_sources of the target.
function(whyformer_unity_groups target groups)
  if(NOT WHYFORMER_UNITY)
    return()
  endif()
  math(EXPR last "${groups} - 1")
  foreach(group RANGE ${last})
    get_property(sources TARGET ${target} PROPERTY WHYFORMER_GROUP_${group})
    if(NOT sources)
      continue()
    endif()
    set(text "")
    foreach(source IN LISTS sources)
      file(RELATIVE_PATH path ${CMAKE_CURRENT_BINARY_DIR}/unity ${source})
      string(APPEND text "#include \"${path}\"\n")
    endforeach()
    set(file ${CMAKE_CURRENT_BINARY_DIR}/unity/${target}_${group}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
    target_sources(${target} PRIVATE ${file})
  endforeach()
endfunction()

# whyformer_precompile(target headers...): what most groups of the target include is parsed once. Without unity builds each
# source must name all it uses, so that such a build shows what is missing.
function(whyformer_precompile target)
  if(WHYFORMER_UNITY)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
