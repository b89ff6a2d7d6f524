# An exercise: the program that judges it, and the proofs that answers are judged rightly.
#
#   exercise(<NN_slug>)
#
# It reads
#   solutions/NN_slug/           exercise.cpp and budget.toml, of which exercises/NN_slug/ is made,
#                                and drill.md, the report of a sick run
#   tests/exercises/NN_slug.cpp  the exam: the checks that judge an answer
#   tests/wrong/NN_slug/*.cpp    answers that it must reject, in the words of their first line
#   tests/right/NN_slug/*.cpp    other answers that it must let pass
#   tests/faults/NN_slug/        symptoms.cpp, an exam of the lesson's own code, and patches of that
#                                code, with the check that finds each and the words of its verdict
# and makes, on demand,
#   check_NN                     the exam of exercises/NN_slug/exercise.cpp
#   sick_NN_<name>               the lesson's program with a wrong answer or a fault
#   exercises_from_solutions     overwrites exercises/, all of it: for authors
# and one test for each proof, exercise_NN.<proof>.

# `exam`: the checks of a source, with the library that holds everything but the answer. They are
# compiled once; an answer is one small object more. Neither needs optimisation.
function(add_exam exam source library)
  add_library(${exam} OBJECT ${source})
  target_link_libraries(${exam} PUBLIC exercise_judge_main ${library})
  compile_quickly(${exam})
endfunction()

# The program `target`: an exam, and the sources of an answer to it.
function(add_answer target exam)
  add_executable(${target} ${ARGN} $<TARGET_OBJECTS:${exam}>)
  target_link_libraries(${target} PRIVATE ${exam})
  compile_quickly(${target})
endfunction()

# With the headers that every answer includes read in once, in tests/support.
function(compile_quickly target)
  # A step that is not written yet uses none of its parameters.
  target_compile_options(${target} PRIVATE -O0 -Wno-unused-parameter)
  target_precompile_headers(${target} REUSE_FROM exercise_judge_main)
endfunction()

# The test `proof`: what prove_exercise is to show of the program `target`.
function(add_proof proof target)
  add_test(NAME ${proof} COMMAND prove_exercise ${ARGN} $<TARGET_FILE:${target}>)
  set_tests_properties(${proof} PROPERTIES TIMEOUT 60 LABELS exercise
                       ENVIRONMENT "OMP_WAIT_POLICY=passive;UCX_MEM_EVENTS=no")
endfunction()

# The lesson's program with a wrong answer, or with patched sources.
function(add_sick_program target library)
  add_executable(${target} EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${target} PRIVATE ${library})
endfunction()

# The committed files against what the solutions make.
function(add_committed_exercise number lesson)
  if(NOT TARGET exercises_from_solutions)
    add_custom_target(exercises_from_solutions)
  endif()
  foreach(file exercise.cpp budget.toml)
    set(make make_exercise solutions/${lesson}/${file} exercises/${lesson}/${file})
    add_custom_target(exercise_${number}_${file} COMMAND ${make}
                      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
    add_dependencies(exercises_from_solutions exercise_${number}_${file})
    # A learner's own work is not stale: only CI asks.
    if("$ENV{CI}")
      add_test(NAME exercise_${number}.committed.${file} COMMAND ${make} --check
               WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    endif()
  endforeach()
endfunction()

# What is left of the solution, without one step or all of them, stops at `step`.
function(add_remainder number lesson name step)
  set(solution solutions/${lesson}/exercise.cpp)
  set(remainder ${PROJECT_BINARY_DIR}/exercises/${lesson}/${name}.cpp)
  add_custom_command(OUTPUT ${remainder}
                     COMMAND make_exercise ${solution} ${remainder} ${ARGN}
                     DEPENDS make_exercise ${PROJECT_SOURCE_DIR}/${solution}
                     WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
  add_answer(exercise_${number}_${name} exam_${number} ${remainder})
  add_proof(exercise_${number}.${name} exercise_${number}_${name} stops_at ${step})
endfunction()

function(add_solution number lesson)
  set(solution ${PROJECT_SOURCE_DIR}/solutions/${lesson}/exercise.cpp)
  add_answer(exercise_${number}_solution exam_${number} ${solution})
  add_proof(exercise_${number}.solution exercise_${number}_solution passes)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${solution})
  file(STRINGS ${solution} steps REGEX "// \\[exercise [0-9.]+\\]")
  list(TRANSFORM steps REPLACE ".*\\[exercise ([0-9.]+)\\].*" "\\1")
  list(GET steps 0 first)
  add_remainder(${number} ${lesson} untouched ${first})
  foreach(step IN LISTS steps)
    add_remainder(${number} ${lesson} without_${step} ${step} --without ${step})
  endforeach()
endfunction()

function(add_bank number lesson)
  foreach(kind wrong right)
    file(GLOB answers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${kind}/${lesson}/*.cpp)
    foreach(answer IN LISTS answers)
      cmake_path(GET answer STEM name)
      set(target exercise_${number}_${name})
      add_answer(${target} exam_${number} ${answer})
      if(kind STREQUAL right)
        add_proof(exercise_${number}.right.${name} ${target} passes)
      else()
        add_proof(exercise_${number}.wrong.${name} ${target} rejects ${answer})
        add_sick_program(sick_${number}_${name} lesson_${number}_open
                           $<TARGET_OBJECTS:lesson_${number}_main> ${answer})
      endif()
    endforeach()
  endforeach()
endfunction()

# Copies the files that a patch touches to `folder` and patches them. Sets `copies` to them,
# `originals` to what they were copied from.
function(add_patched_files patch folder)
  file(STRINGS ${patch} files REGEX "^\\+\\+\\+ b/")
  list(TRANSFORM files REPLACE "^\\+\\+\\+ b/([^ \t]+).*" "\\1")
  foreach(file IN LISTS files)
    cmake_path(GET file PARENT_PATH place)
    file(MAKE_DIRECTORY ${folder}/${place})
    list(APPEND originals ${PROJECT_SOURCE_DIR}/${file})
    list(APPEND copies ${folder}/${file})
    list(APPEND copying COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/${file}
                                ${folder}/${file})
  endforeach()
  add_custom_command(OUTPUT ${copies} ${copying}
                     COMMAND ${PATCH_PROGRAM} -p1 --fuzz=0 --quiet --input=${patch}
                     DEPENDS ${originals} ${patch} WORKING_DIRECTORY ${folder} VERBATIM)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${patch})
  set(copies ${copies} PARENT_SCOPE)
  set(originals ${originals} PARENT_SCOPE)
endfunction()

# A patched source is linked in front of the library that has the healthy one. A patched header
# makes all sources patched ones, the exam and the program among them.
function(add_fault number lesson name patch symptoms)
  set(folder ${PROJECT_BINARY_DIR}/faults/${lesson}/${name})
  add_patched_files(${patch} ${folder})
  set(targets exercise_${number}_${name} sick_${number}_${name})
  set(exam symptoms_${number})
  set(program $<TARGET_OBJECTS:lesson_${number}_main>)
  if(copies MATCHES "\\.h(;|$)")
    set(main ${PROJECT_SOURCE_DIR}/lessons/${lesson}/main.cpp)
    file(GLOB others CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lessons/${lesson}/*.cpp)
    list(REMOVE_ITEM others ${originals} ${main})
    list(APPEND copies ${others})
    set(exam symptoms_${number}_${name})
    set(program ${main})
    add_exam(${exam} ${symptoms} lesson_${number}_mechanism)
    list(APPEND targets ${exam})
  endif()
  add_answer(exercise_${number}_${name} ${exam} ${copies})
  add_sick_program(sick_${number}_${name} lesson_${number}_mechanism ${program} ${copies})
  foreach(target IN LISTS targets)
    target_include_directories(${target} BEFORE PRIVATE ${folder})
  endforeach()
  add_proof(exercise_${number}.fault.${name} exercise_${number}_${name} rejects ${patch})
endfunction()

function(add_faults number lesson)
  file(GLOB patches CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/faults/${lesson}/*.patch)
  if(NOT patches)
    return()
  endif()
  find_program(PATCH_PROGRAM patch REQUIRED)
  set(symptoms ${PROJECT_SOURCE_DIR}/tests/faults/${lesson}/symptoms.cpp)
  add_exam(symptoms_${number} ${symptoms} lesson_${number}_mechanism)
  add_answer(exercise_${number}_healthy symptoms_${number})
  add_proof(exercise_${number}.healthy exercise_${number}_healthy passes)
  foreach(patch IN LISTS patches)
    cmake_path(GET patch STEM name)
    add_fault(${number} ${lesson} ${name} ${patch} ${symptoms})
  endforeach()
endfunction()

# The drill tells what its sick program really prints.
function(add_drill number lesson)
  set(drill ${PROJECT_SOURCE_DIR}/solutions/${lesson}/drill.md)
  if(EXISTS ${drill})
    file(STRINGS ${drill} name REGEX "^<!-- run: ")
    string(REGEX REPLACE "^<!-- run: ([^ ]+) .*" "sick_${number}_\\1" program "${name}")
    set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL OFF)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${drill})
    add_proof(exercise_${number}.drill ${program} retells ${drill})
  endif()
endfunction()

function(exercise lesson)
  string(SUBSTRING ${lesson} 0 2 number)
  add_exam(exam_${number} ${PROJECT_SOURCE_DIR}/tests/exercises/${lesson}.cpp
           lesson_${number}_open)
  add_answer(check_${number} exam_${number}
             ${PROJECT_SOURCE_DIR}/exercises/${lesson}/exercise.cpp)
  set_target_properties(check_${number} PROPERTIES
                        EXCLUDE_FROM_ALL ON RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  add_committed_exercise(${number} ${lesson})
  add_solution(${number} ${lesson})
  add_bank(${number} ${lesson})
  add_faults(${number} ${lesson})
  add_drill(${number} ${lesson})
endfunction()
