package dev.kakehashi.engine.type.number;

/// Trigonometry in degrees, exact at multiples of 30 and 45 degrees: every quadrant is reduced to the first one, whose functions are scaled
/// so that their known values are exact (PostgreSQL's float.c).
final class Degrees {
  private static final double RADIANS_PER_DEGREE = 0.017453292519943295;
  private static final double SIN_30 = LibM.sin(30 * RADIANS_PER_DEGREE);
  private static final double ONE_MINUS_COS_60 = 1 - LibM.cos(60 * RADIANS_PER_DEGREE);
  private static final double ASIN_0_5 = LibM.asin(0.5);
  private static final double ACOS_0_5 = LibM.acos(0.5);
  private static final double ATAN_1 = LibM.atan(1);
  private static final double TAN_45 = sinOfQuadrant(45) / cosOfQuadrant(45);
  private static final double COT_45 = cosOfQuadrant(45) / sinOfQuadrant(45);

  private Degrees() {}

  private static double sinTo30(double x) {
    return LibM.sin(x * RADIANS_PER_DEGREE) / SIN_30 / 2;
  }

  private static double cosTo60(double x) {
    return 1 - (1 - LibM.cos(x * RADIANS_PER_DEGREE)) / ONE_MINUS_COS_60 / 2;
  }

  private static double sinOfQuadrant(double x) {
    return x <= 30 ? sinTo30(x) : cosTo60(90 - x);
  }

  private static double cosOfQuadrant(double x) {
    return x <= 60 ? cosTo60(x) : sinTo30(90 - x);
  }

  private static double asinOfQuadrant(double x) {
    return x <= 0.5 ? LibM.asin(x) / ASIN_0_5 * 30 : 90 - LibM.acos(x) / ACOS_0_5 * 60;
  }

  private static double acosOfQuadrant(double x) {
    return x <= 0.5 ? 90 - LibM.asin(x) / ASIN_0_5 * 30 : LibM.acos(x) / ACOS_0_5 * 60;
  }

  static double asin(double x) {
    return x >= 0 ? asinOfQuadrant(x) : -asinOfQuadrant(-x);
  }

  static double acos(double x) {
    return x >= 0 ? acosOfQuadrant(x) : 90 + asinOfQuadrant(-x);
  }

  static double atan(double x) {
    return LibM.atan(x) / ATAN_1 * 45;
  }

  static double atan2(double y, double x) {
    return LibM.atan2(y, x) / ATAN_1 * 45;
  }

  static double sin(double x) {
    double angle = x % 360;
    double sign = 1;
    if (angle < 0) { // not -0, whose sine is -0
      angle = -angle;
      sign = -1;
    }
    if (angle > 180) {
      angle = 360 - angle;
      sign = -sign;
    }
    return sign * sinOfQuadrant(angle > 90 ? 180 - angle : angle);
  }

  static double cos(double x) {
    double angle = Math.abs(x % 360);
    if (angle > 180) {
      angle = 360 - angle;
    }
    return angle > 90 ? -cosOfQuadrant(180 - angle) : cosOfQuadrant(angle);
  }

  static double tan(double x) {
    double angle = toFirstQuadrant(x);
    return positiveZero(sign(x) * (sinOfQuadrant(angle) / cosOfQuadrant(angle) / TAN_45));
  }

  static double cot(double x) {
    double angle = toFirstQuadrant(x);
    return positiveZero(sign(x) * (cosOfQuadrant(angle) / sinOfQuadrant(angle) / COT_45));
  }

  /// Keeps -0, whose cotangent is minus infinity.
  private static double toFirstQuadrant(double x) {
    double angle = x % 360;
    if (angle < 0) {
      angle = -angle;
    }
    if (angle > 180) {
      angle = 360 - angle;
    }
    return angle > 90 ? 180 - angle : angle;
  }

  /// Sign of tangent and cotangent.
  private static double sign(double x) {
    double angle = Math.abs(x % 360);
    double sign = x % 360 < 0 ? -1 : 1;
    if (angle > 180) {
      angle = 360 - angle;
      sign = -sign;
    }
    return angle > 90 ? -sign : sign;
  }

  private static double positiveZero(double x) {
    return x == 0 ? 0 : x;
  }
}
