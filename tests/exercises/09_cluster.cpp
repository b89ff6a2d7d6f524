#include "tests/support/judge.h"
