// A source to cut from.
namespace demo {

// [slide step]
  double step(double x) {
    const double y = 2 * x;  // forward

    return y - 1;
  }
// [end slide]

// [slide empty]
// [end slide]

// [slide other]
int other = 1;  // ∂x
// [end slide]

}  // namespace demo

// [slide endless]
int endless = 2;
