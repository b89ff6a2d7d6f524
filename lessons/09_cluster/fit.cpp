#include "lessons/09_cluster/fit.h"

#include <algorithm>

#include "base/check.h"

namespace shardlings::lesson09 {

// The smallest sum of ((alpha + bytes per_byte) / seconds - 1)^2: with u = 1 / seconds and
// v = bytes / seconds, both its derivatives are zero where
//   alpha sum(u u) + per_byte sum(u v) = sum(u)
//   alpha sum(u v) + per_byte sum(v v) = sum(v)
Link fit_link(const std::string& name, std::span<const TimedMessage> points) {
  double uu = 0, uv = 0, vv = 0, u_sum = 0, v_sum = 0;
  for (const TimedMessage& point : points) {
    const double u = 1 / point.seconds, v = point.bytes / point.seconds;
    uu += u * u, uv += u * v, vv += v * v;
    u_sum += u, v_sum += v;
  }
  const double determinant = uu * vv - uv * uv;
  double alpha = (u_sum * vv - v_sum * uv) / determinant;
  double per_byte = (v_sum * uu - u_sum * uv) / determinant;
  if (alpha < 0) alpha = 0, per_byte = v_sum / vv;  // the closest line through the origin
  if (!(per_byte > 0))
    fail(ExitCode::bad_data, "{}: larger messages were not slower, so that no bandwidth fits",
         name);
  return {.name = name, .latency = alpha, .bandwidth = 1 / per_byte};
}

}  // namespace shardlings::lesson09
