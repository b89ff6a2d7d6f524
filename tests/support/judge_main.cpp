#include "tests/support/judge.h"

int main() {
  return shardlings::run(shardlings::kExam);
}
