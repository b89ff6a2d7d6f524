// Catch2 v2 (Debian 12) and v3 behind one name. Include it last: Catch2's CHECK replaces
// base/check.h's, whose uses in our headers are expanded by then.
#pragma once

#undef CHECK
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
