#include "test.h"
const test_case session_tests[] = {{0}};
