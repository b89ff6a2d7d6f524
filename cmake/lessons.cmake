# One line of lessons/catalogue.cmake makes everything that a lesson is built from.
#
#   lesson(<NN> <slug> TITLE <the one idea> BUILDS_ON <NN or -> TRACK <fast or full>)
#
# lesson_NN            the program: main.cpp
# lesson_NN_mine       the same with exercises/NN_slug/exercise.cpp; built on demand
# lesson_NN_mechanism  a library of the folder's other sources and the course's solution of the
#                      exercise; tests and later lessons link it
# lesson_NN_open       the same without the solution, for programs with an exercise.cpp of their own
#
# The global property SHARDLINGS_LESSONS collects the rows as C++ initialisers (tools/driver),
# SHARDLINGS_LESSON_FOLDERS the names NN_slug (tests/exercises).
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
  file(GLOB mechanism CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(REMOVE_ITEM mechanism ${folder}/main.cpp)
  if(NOT program OR NOT mechanism)
    message(WARNING "lesson ${number}: ${folder} needs main.cpp and one more source")
    return()
  endif()

  add_library(lesson_${number}_objects OBJECT ${mechanism})
  target_link_libraries(lesson_${number}_objects PUBLIC shardlings_course)
  if(NOT ARG_BUILDS_ON STREQUAL "-")
    target_link_libraries(lesson_${number}_objects PUBLIC lesson_${ARG_BUILDS_ON}_mechanism)
  endif()
  add_library(lesson_${number}_open STATIC)
  add_library(lesson_${number}_mechanism STATIC
              ${PROJECT_SOURCE_DIR}/solutions/${number}_${slug}/exercise.cpp)
  target_link_libraries(lesson_${number}_open PUBLIC lesson_${number}_objects)
  target_link_libraries(lesson_${number}_mechanism PUBLIC lesson_${number}_objects)
  add_library(lesson_${number}_main OBJECT ${program})
  target_link_libraries(lesson_${number}_main PRIVATE lesson_${number}_objects)
  add_executable(lesson_${number} $<TARGET_OBJECTS:lesson_${number}_main>)
  target_link_libraries(lesson_${number} PRIVATE lesson_${number}_mechanism)

  set(mine ${PROJECT_SOURCE_DIR}/exercises/${number}_${slug}/exercise.cpp)
  add_executable(lesson_${number}_mine EXCLUDE_FROM_ALL
                 $<TARGET_OBJECTS:lesson_${number}_main> ${mine})
  target_link_libraries(lesson_${number}_mine PRIVATE lesson_${number}_open)
  # A step that is not written yet uses none of its parameters.
  target_compile_options(lesson_${number}_mine PRIVATE -Wno-unused-parameter)

  set_target_properties(lesson_${number} lesson_${number}_mine PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set_property(GLOBAL APPEND PROPERTY SHARDLINGS_LESSON_FOLDERS ${number}_${slug})
endfunction()
