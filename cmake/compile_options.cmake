# One interface target carries what every target of the course is compiled with.
add_library(shardlings_options INTERFACE)
target_include_directories(shardlings_options INTERFACE ${PROJECT_SOURCE_DIR}/common
                                                        ${PROJECT_SOURCE_DIR})
set(warnings -Wall -Wextra -Wshadow)
if(SHARDLINGS_WERROR)
  list(APPEND warnings -Werror)
endif()
set(options ${warnings})
if(SHARDLINGS_NATIVE)
  list(APPEND options -march=native)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # With AVX-512, g++ 12.2 turns the initialiser {5, 5, 5, 0} of four 64-bit integers into {5, 5, 5, 5}.
  list(APPEND options -fno-tree-slp-vectorize)
endif()
if(NOT SHARDLINGS_OPENMP)
  list(APPEND options -Wno-unknown-pragmas)
endif()
if(SHARDLINGS_SANITIZE)
  list(APPEND options -fsanitize=${SHARDLINGS_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  target_link_options(shardlings_options INTERFACE -fsanitize=${SHARDLINGS_SANITIZE})
endif()
target_compile_options(shardlings_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
# nvcc hands on what follows -Xcompiler. Functions that are constexpr serve the GPU as well.
list(JOIN warnings "," warnings)
target_compile_options(shardlings_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcompiler=${warnings}>")
