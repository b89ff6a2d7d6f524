# Tests of the course: Catch2 (v2 of Debian 12 or v3), one main for all.
#
#   add_course_test(<name> SOURCES <file>... [LIBRARIES <target>...] [TIMEOUT <seconds>] [LABELS <label>...])
#
# makes the program test_<name> and one CTest entry of that name.
find_package(Catch2 REQUIRED)

function(add_course_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${ARG_LIBRARIES} shardlings_test_main)
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
                       SKIP_RETURN_CODE 77
                       # Some tests ask for more memory than there is; that is an error, not a bug.
                       # Threads that wait give way: others may be testing on the same cores.
                       # UCX, which MPICH brings, hooks into the end of threads; the thread sanitizer
                       # crashes there.
                       ENVIRONMENT "ASAN_OPTIONS=allocator_may_return_null=1;\
OMP_WAIT_POLICY=passive;UCX_MEM_EVENTS=no")
endfunction()
