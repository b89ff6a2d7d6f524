# One line of lessons/catalogue.cmake makes everything that a lesson is built from.
#
#   lesson(<NN> <slug> TITLE <the one idea> BUILDS_ON <NN or -> TRACK <fast or full>)
#
# lesson_NN            the program: main.cpp
# lesson_NN_mechanism  a library of the folder's other sources and the course's solution of the
#                      exercise; tests and later lessons link it. It is an archive, so that a program
#                      with an exercise.cpp of its own uses that one.
#
# The global property SHARDLINGS_LESSONS collects the rows as C++ initialisers (tools/driver).
function(lesson number slug)
  cmake_parse_arguments(ARG "" "TITLE;BUILDS_ON;TRACK" "" ${ARGN})
  if(NOT number MATCHES "^[0-9][0-9]$" OR NOT ARG_TITLE OR NOT ARG_TRACK MATCHES "^(fast|full)$")
    message(FATAL_ERROR "lessons/catalogue.cmake: lesson(${number} ${slug} ...) is malformed")
  endif()
  string(COMPARE EQUAL ${ARG_TRACK} fast fast)
  set_property(GLOBAL APPEND_STRING PROPERTY SHARDLINGS_LESSONS
    "    {\"${number}\", \"${slug}\", \"${ARG_TITLE}\", \"${ARG_BUILDS_ON}\", ${fast}},\n")

  set(folder ${PROJECT_SOURCE_DIR}/lessons/${number}_${slug})
  file(GLOB program CONFIGURE_DEPENDS ${folder}/main.cpp)
  file(GLOB mechanism CONFIGURE_DEPENDS
       ${folder}/*.cpp ${PROJECT_SOURCE_DIR}/solutions/${number}_${slug}/exercise.cpp)
  list(REMOVE_ITEM mechanism ${folder}/main.cpp)
  if(NOT program OR NOT mechanism)
    message(WARNING "lesson ${number}: ${folder} needs main.cpp and one more source")
    return()
  endif()

  add_library(lesson_${number}_mechanism STATIC ${mechanism})
  target_link_libraries(lesson_${number}_mechanism PUBLIC shardlings_course)
  if(NOT ARG_BUILDS_ON STREQUAL "-")
    target_link_libraries(lesson_${number}_mechanism PUBLIC lesson_${ARG_BUILDS_ON}_mechanism)
  endif()
  add_executable(lesson_${number} ${program})
  target_link_libraries(lesson_${number} PRIVATE lesson_${number}_mechanism)
  set_target_properties(lesson_${number} PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()
