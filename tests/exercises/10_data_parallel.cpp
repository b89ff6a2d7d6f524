#include "tests/support/judge.h"
const shardlings::Exam shardlings::kExam{.name = "exercise 10", .hint = "", .again = "", .checks = {}};
