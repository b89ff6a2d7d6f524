# One static library per layer of common/ (see CONTRIBUTING.md, "The layers").
#
#   add_layer(<name> SOURCES <file>... [NEIGHBOURS <layer>...] [LIBRARIES <target>...])
#
# NEIGHBOURS are the layers below that this one may include; tests/layers checks the includes against them.
# LIBRARIES are linked privately: heavy headers stay inside one or two sources.
function(add_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;NEIGHBOURS;LIBRARIES" ${ARGN})
  set(target shardlings_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC shardlings_options PRIVATE ${ARG_LIBRARIES})
  foreach(neighbour IN LISTS ARG_NEIGHBOURS)
    target_link_libraries(${target} PUBLIC shardlings_${neighbour})
  endforeach()
  list(JOIN ARG_NEIGHBOURS " " neighbours)
  set_property(GLOBAL APPEND PROPERTY SHARDLINGS_LAYERS "${name} ${neighbours}")
endfunction()
