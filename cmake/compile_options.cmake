# One interface target carries what every target of the course is compiled with.
add_library(shardlings_options INTERFACE)
target_include_directories(shardlings_options INTERFACE ${PROJECT_SOURCE_DIR}/common
                                                        ${PROJECT_SOURCE_DIR})
target_compile_options(shardlings_options INTERFACE -Wall -Wextra -Wshadow)
if(SHARDLINGS_WERROR)
  target_compile_options(shardlings_options INTERFACE -Werror)
endif()
if(SHARDLINGS_NATIVE)
  target_compile_options(shardlings_options INTERFACE -march=native)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # With AVX-512, g++ 12.2 turns the initialiser {5, 5, 5, 0} of four 64-bit integers into {5, 5, 5, 5}.
  target_compile_options(shardlings_options INTERFACE -fno-tree-slp-vectorize)
endif()
if(NOT SHARDLINGS_OPENMP)
  target_compile_options(shardlings_options INTERFACE -Wno-unknown-pragmas)
endif()
if(SHARDLINGS_SANITIZE)
  target_compile_options(shardlings_options INTERFACE
    -fsanitize=${SHARDLINGS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(shardlings_options INTERFACE -fsanitize=${SHARDLINGS_SANITIZE})
endif()
