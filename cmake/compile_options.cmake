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
if(NOT SHARDLINGS_OPENMP)
  target_compile_options(shardlings_options INTERFACE -Wno-unknown-pragmas)
endif()
if(SHARDLINGS_SANITIZE)
  target_compile_options(shardlings_options INTERFACE -fsanitize=${SHARDLINGS_SANITIZE}
                                                      -fno-omit-frame-pointer)
  target_link_options(shardlings_options INTERFACE -fsanitize=${SHARDLINGS_SANITIZE})
endif()
