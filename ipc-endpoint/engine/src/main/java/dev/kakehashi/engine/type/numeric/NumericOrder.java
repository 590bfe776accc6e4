package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.type.RawMemory;

/// Order, equality and hash of numerics: by value, whatever the display scale. -infinity is least, infinity less than NaN, NaN equals
/// NaN and is greatest.
public final class NumericOrder {
  private NumericOrder() {}

  public static int compare(long a, long b) {
    int headerA = NumericForm.header(a);
    int headerB = NumericForm.header(b);
    int rankA = rank(a, headerA);
    int rankB = rank(b, headerB);
    if (rankA != rankB) {
      return Integer.compare(rankA, rankB);
    }
    return switch (rankA) {
      case 1 -> compareMagnitude(a, headerA, b, headerB);
      case -1 -> compareMagnitude(b, headerB, a, headerA);
      default -> 0;
    };
  }

  /// Negative -1, zero 0, positive 1, and the special values beyond.
  private static int rank(long value, int header) {
    if ((header & NumericForm.SIGN_MASK) == NumericForm.SPECIAL) {
      return switch (header) {
        case NumericForm.NEGATIVE_INFINITY -> -2;
        case NumericForm.POSITIVE_INFINITY -> 2;
        default -> 3;
      };
    }
    if (NumericForm.digitCount(value, header) == 0) {
      return 0;
    }
    return NumericForm.isNegative(header) ? -1 : 1;
  }

  // Canonical digits have no zero in front, so the greater weight wins.
  private static int compareMagnitude(long a, int headerA, long b, int headerB) {
    int weightA = NumericForm.weight(a, headerA);
    int weightB = NumericForm.weight(b, headerB);
    if (weightA != weightB) {
      return Integer.compare(weightA, weightB);
    }
    int countA = NumericForm.digitCount(a, headerA);
    int countB = NumericForm.digitCount(b, headerB);
    long digitsA = NumericForm.digits(a, headerA);
    long digitsB = NumericForm.digits(b, headerB);
    int common = Math.min(countA, countB);
    for (int i = 0; i < common; i++) {
      int difference = RawMemory.getShort(digitsA + 2L * i) - RawMemory.getShort(digitsB + 2L * i);
      if (difference != 0) {
        return difference;
      }
    }
    return Integer.compare(countA, countB);
  }

  /// Equal values of different scale hash equally, because canonical digits do not depend on the display scale.
  public static long hash(long value) {
    int header = NumericForm.header(value);
    int rank = rank(value, header);
    if (rank != 1 && rank != -1) {
      return RawMemory.mix(rank);
    }
    int count = NumericForm.digitCount(value, header);
    long seed = (long) NumericForm.weight(value, header) << 2 | (rank + 1);
    return RawMemory.mix(seed ^ RawMemory.hashBytes(NumericForm.digits(value, header), 2L * count));
  }
}
