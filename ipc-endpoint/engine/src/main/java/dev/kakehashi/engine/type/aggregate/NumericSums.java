package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.numeric.NumericFast;
import dev.kakehashi.engine.type.numeric.NumericForm;
import dev.kakehashi.engine.type.numeric.NumericWord;
import dev.kakehashi.engine.vector.VarHeap;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Exact sums of numerics, one per group: a 128-bit number at the group's scale, and a [BigDecimal] for what does not fit.
///
/// A group's sum is `(high, low) / 10^scale + rest`. Values of up to 18 digits only touch the 128-bit part; it is moved to the rest when
/// a value has a greater scale (rare: the values of a column mostly have one scale) and before it could overflow.
final class NumericSums {
  private static final byte NAN = 1;
  private static final byte INFINITY = 2;
  private static final byte MINUS_INFINITY = 4;

  /// The high word stays below this, so that one more addition cannot overflow.
  private static final long HIGH_LIMIT = 1L << 61;

  private long[] low = {};
  private long[] high = {};
  private int[] scales = {};
  private byte[] special = {};
  private @Nullable BigDecimal @Nullable [] rest;

  void grow(int capacity) {
    low = Arrays.copyOf(low, capacity);
    high = Arrays.copyOf(high, capacity);
    scales = Arrays.copyOf(scales, capacity);
    special = Arrays.copyOf(special, capacity);
    if (rest != null) {
      rest = Arrays.copyOf(rest, capacity);
    }
  }

  /// Adds a numeric by its [NumericWord].
  void add(int group, long word) {
    long unscaled = NumericWord.unscaled(word);
    if (unscaled == NumericFast.NOT_FAST) {
      addSlow(group, NumericWord.address(word));
      return;
    }
    int scale = NumericWord.scale(word);
    if (scale == scales[group]) {
      addWide(group, unscaled >> 63, unscaled);
    } else {
      add(group, unscaled, scale);
    }
  }

  /// Adds `unscaled / 10^scale`, magnitude of unscaled below [NumericFast#LIMIT] or any at the group's scale.
  void add(int group, long unscaled, int scale) {
    int lacking = alignScale(group, scale);
    if (lacking == 0) {
      addWide(group, unscaled >> 63, unscaled);
    } else if (lacking <= 18) {
      long power = NumericFast.powerOfTen(lacking);
      addWide(group, Math.multiplyHigh(unscaled, power), unscaled * power);
    } else {
      addRest(group, BigDecimal.valueOf(unscaled, scale));
    }
  }

  /// Adds the square of `unscaled / 10^scale`.
  void addSquare(int group, long unscaled, int scale) {
    int lacking = alignScale(group, 2 * scale);
    if (lacking == 0) {
      addWide(group, Math.multiplyHigh(unscaled, unscaled), unscaled * unscaled);
    } else {
      BigDecimal value = BigDecimal.valueOf(unscaled, scale);
      addRest(group, value.multiply(value));
    }
  }

  void addSquare(int group, BigDecimal value) {
    alignScale(group, 2 * value.scale());
    addRest(group, value.multiply(value));
  }

  /// Raises the group's scale if need be; by how many digits a value's scale is less than the group's.
  private int alignScale(int group, int scale) {
    if (scale > scales[group]) {
      spill(group);
      scales[group] = scale;
    }
    return scales[group] - scale;
  }

  private void addWide(int group, long highPart, long lowPart) {
    long sum = low[group] + lowPart;
    long carry = Long.compareUnsigned(sum, lowPart) < 0 ? 1 : 0;
    low[group] = sum;
    long top = high[group] + highPart + carry;
    high[group] = top;
    if (top >= HIGH_LIMIT || top <= -HIGH_LIMIT) {
      spill(group);
    }
  }

  private void spill(int group) {
    if (low[group] != 0 || high[group] != 0) {
      addRest(group, new BigDecimal(wide(group), scales[group]));
      low[group] = 0;
      high[group] = 0;
    }
  }

  private BigInteger wide(int group) {
    return BigInteger.valueOf(high[group])
        .shiftLeft(64)
        .add(
            BigInteger.valueOf(low[group] >>> 1)
                .shiftLeft(1)
                .add(BigInteger.valueOf(low[group] & 1)));
  }

  private void addSlow(int group, long value) {
    if (NumericForm.isSpecial(value)) {
      byte flag =
          NumericForm.isNan(value) ? NAN : NumericForm.sign(value) > 0 ? INFINITY : MINUS_INFINITY;
      special[group] = (byte) (special[group] | flag);
      return;
    }
    BigDecimal decimal = NumericForm.toBigDecimal(value);
    alignScale(group, decimal.scale());
    addRest(group, decimal);
  }

  private void addRest(int group, BigDecimal value) {
    @Nullable BigDecimal[] present = rest;
    if (present == null) {
      present = new @Nullable BigDecimal[low.length];
      rest = present;
    }
    BigDecimal before = present[group];
    present[group] = before == null ? value : before.add(value);
  }

  /// Empties a group.
  void clear(int group) {
    low[group] = 0;
    high[group] = 0;
    scales[group] = 0;
    special[group] = 0;
    if (rest != null) {
      rest[group] = null;
    }
  }

  void merge(int group, NumericSums other, int from) {
    special[group] = (byte) (special[group] | other.special[from]);
    alignScale(group, other.scales[from]);
    if (other.scales[from] == scales[group]) {
      addWide(group, other.high[from], other.low[from]);
    } else if (other.low[from] != 0 || other.high[from] != 0) {
      addRest(group, new BigDecimal(other.wide(from), other.scales[from]));
    }
    if (other.rest != null) {
      BigDecimal theirs = other.rest[from];
      if (theirs != null) {
        addRest(group, theirs);
      }
    }
  }

  /// Whether NaN or an infinity was added.
  boolean isSpecial(int group) {
    return special[group] != 0;
  }

  /// The sum at the greatest scale of the values; meaningless when [#isSpecial].
  BigDecimal sum(int group) {
    BigDecimal sum = new BigDecimal(wide(group), scales[group]);
    if (rest != null) {
      BigDecimal more = rest[group];
      if (more != null) {
        sum = sum.add(more);
      }
    }
    return sum;
  }

  /// The sum as a numeric.
  long result(int group, VarHeap heap) {
    byte flags = special[group];
    if (flags == 0) {
      if (high[group] == low[group] >> 63 && rest == null) {
        return NumericFast.encode(heap, low[group], scales[group]);
      }
      return NumericForm.of(heap, sum(group));
    }
    if (flags == INFINITY || flags == MINUS_INFINITY) {
      return NumericForm.infinity(heap, flags == MINUS_INFINITY);
    }
    return NumericForm.nan(heap);
  }

  long memoryBytes() {
    return 21L * low.length + (rest == null ? 0 : 64L * low.length);
  }
}
