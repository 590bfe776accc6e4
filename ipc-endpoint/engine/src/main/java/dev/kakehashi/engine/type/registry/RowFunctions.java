package dev.kakehashi.engine.type.registry;

import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.INTERVAL;
import static dev.kakehashi.protocol.TypeOid.NUMERIC;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMP;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMPTZ;

import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.RowFunction.Rows;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.access.FileFunctions;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.array.TextRows;
import dev.kakehashi.engine.type.json.JsonRows;
import dev.kakehashi.engine.type.numeric.NumericForm;
import dev.kakehashi.engine.type.queue.QueueFunctions;
import dev.kakehashi.engine.type.time.DateTimeMath;
import dev.kakehashi.engine.type.time.Intervals;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Zone;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Finds functions that return rows, as PostgreSQL does. Thread-safe.
public final class RowFunctions {
  private static final String SERIES = "generate_series";
  private static final List<RowFunction> FUNCTIONS = new ArrayList<>();

  static {
    for (int oid : new int[] {INT4, INT8}) {
      boolean narrow = oid == INT4;
      series(oid, oid, 2, (a, _) -> integers(a[0], a[1], 1, narrow));
      series(oid, oid, 3, (a, _) -> integers(a[0], a[1], a[2], narrow));
    }
    series(NUMERIC, NUMERIC, 2, (a, _) -> decimals(a[0], a[1], BigDecimal.ONE));
    series(NUMERIC, NUMERIC, 3, (a, _) -> decimals(a[0], a[1], finite(a[2], "step size")));
    series(TIMESTAMP, INTERVAL, 3, (a, _) -> times(a, Zone.UTC));
    series(TIMESTAMPTZ, INTERVAL, 3, (a, c) -> times(a, c.zone));
    JsonRows.register(FUNCTIONS::add);
    TextRows.register(FUNCTIONS::add);
    FileFunctions.register(FUNCTIONS::add);
    QueueFunctions.register(FUNCTIONS::add);
  }

  private RowFunctions() {}

  private static void series(int oid, int stepOid, int count, RowFunction.Body body) {
    int[] arguments = Arrays.copyOf(new int[] {oid, oid, stepOid}, count);
    FUNCTIONS.add(new RowFunction(SERIES, arguments, oid, body));
  }

  /// The function that PostgreSQL would take; null when there is none.
  ///
  /// @param argumentOids types of the arguments; [Types#UNKNOWN] for a string literal or NULL without type
  /// @throws dev.kakehashi.engine.api.error.EngineException AMBIGUOUS_FUNCTION when several fit equally well
  public static @Nullable RowFunction resolve(String name, int[] argumentOids) {
    if (name.equals("unnest") && argumentOids.length == 1) {
      int element = TypeOid.element(argumentOids[0]);
      return element == TypeOid.UNSPECIFIED
          ? null
          : new RowFunction(name, argumentOids, element, (a, _) -> elements(element, a[0]));
    }
    if (name.equals("generate_subscripts")) {
      return subscripts(argumentOids);
    }
    List<RowFunction> candidates =
        FUNCTIONS.stream().filter(function -> function.name().equals(name)).toList();
    return candidates.isEmpty()
        ? null
        : Overloads.resolve(name, candidates, RowFunction::argumentOids, argumentOids);
  }

  private static @Nullable RowFunction subscripts(int[] oids) {
    if (oids.length < 2
        || oids.length > 3
        || !ArrayTypes.isArray(oids[0])
        || !Casts.isImplicit(oids[1], INT4)
        || (oids.length == 3 && !Casts.isImplicit(oids[2], TypeOid.BOOL))) {
      return null;
    }
    int[] declared = oids.clone();
    declared[1] = INT4;
    if (oids.length == 3) {
      declared[2] = TypeOid.BOOL;
    }
    return new RowFunction(
        "generate_subscripts",
        declared,
        INT4,
        (a, _) -> {
          ArrayValue array = ArrayTypes.array(a[0]);
          if (a[1] < 1 || a[1] > array.dimensions()) {
            return integers(1, 0, 1, true);
          }
          int lower = array.lowerBounds().get((int) a[1] - 1);
          int upper = array.upperBound((int) a[1] - 1);
          return a.length > 2 && a[2] != 0
              ? integers(upper, lower, -1, true)
              : integers(lower, upper, 1, true);
        });
  }

  /// Every function but unnest() and generate_subscripts(), which are of any array, for tests and catalogue views.
  public static List<RowFunction> all() {
    return List.copyOf(FUNCTIONS);
  }

  private static Rows integers(long first, long last, long step, boolean narrow) {
    refuseZero(step == 0);
    long[] current = {first};
    boolean[] ended = {false};
    return (value, _) -> {
      if (ended[0] || (step > 0 ? current[0] > last : current[0] < last)) {
        return false;
      }
      value[0] = current[0];
      long next = current[0] + step;
      // A value beyond the type is behind the last value.
      ended[0] = ((current[0] ^ next) & (step ^ next)) < 0 || (narrow && next != (int) next);
      current[0] = next;
      return true;
    };
  }

  private static void refuseZero(boolean zero) {
    if (zero) {
      throw SqlErrors.invalidParameter("step size cannot equal zero");
    }
  }

  private static BigDecimal finite(long numeric, String what) {
    if (NumericForm.isSpecial(numeric)) {
      throw SqlErrors.invalidParameter(
          what + " cannot be " + (NumericForm.isNan(numeric) ? "NaN" : "infinity"));
    }
    return NumericForm.toBigDecimal(numeric);
  }

  private static Rows decimals(long firstWord, long lastWord, BigDecimal step) {
    BigDecimal first = finite(firstWord, "start value");
    BigDecimal last = finite(lastWord, "stop value");
    refuseZero(step.signum() == 0);
    BigDecimal[] current = {first};
    return (value, context) -> {
      if (current[0].compareTo(last) * step.signum() > 0) {
        return false;
      }
      value[0] = Values.ofDecimal(current[0], context.heap);
      current[0] = current[0].add(step);
      return true;
    };
  }

  private static Rows times(long[] arguments, Zone zone) {
    int sign = Intervals.sign(arguments[2]);
    refuseZero(sign == 0);
    long last = arguments[1];
    long step = arguments[2];
    long[] current = {arguments[0]};
    return (value, _) -> {
      if (sign > 0 ? current[0] > last : current[0] < last) {
        return false;
      }
      value[0] = current[0];
      current[0] = DateTimeMath.addInterval(current[0], step, zone);
      return true;
    };
  }

  private static Rows elements(int oid, long array) {
    return Rows.of(
        ArrayTypes.array(array).elements(),
        (element, values, context) ->
            values[0] =
                element == null
                    ? context.nullResult()
                    : Values.parse(oid, element, context.heap, context.zone));
  }
}
