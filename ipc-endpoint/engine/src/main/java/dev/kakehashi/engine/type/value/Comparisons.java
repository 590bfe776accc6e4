package dev.kakehashi.engine.type.value;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.type.time.DateTimeMath;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Zone;
import java.util.function.IntPredicate;

/// The operators = <> < <= > >= of every type, and between types where PostgreSQL has them.
public final class Comparisons {
  private static final int[] INTEGERS = {TypeOid.INT2, TypeOid.INT4, TypeOid.INT8};

  /// Order of two words.
  @FunctionalInterface
  interface Comparison {
    int compare(long a, long b);
  }

  private Comparisons() {}

  public static void register(FunctionSet set) {
    for (int oid : Types.all()) {
      // varchar has none of its own: it is compared as text.
      if (oid == TypeOid.VARCHAR || isInteger(oid)) {
        continue;
      }
      ColumnKind kind = Types.kind(oid);
      if (kind == ColumnKind.INTEGER) {
        words(set, oid, oid);
      } else if (kind == ColumnKind.VARLENA) {
        varlena(set, oid);
      } else {
        ordered(set, oid, oid, comparison(kind));
      }
    }
    for (int oid : TypeOid.textForms()) {
      if (oid == TypeOid.JSONB) {
        ordered(set, oid, oid, comparison(ColumnKind.JSONB));
      } else if (TypeOid.element(oid) == TypeOid.UNSPECIFIED && Types.hasEquality(oid)) {
        if (Types.hasOrder(oid)) {
          varlena(set, oid);
        } else {
          equality(set, oid);
        }
      }
    }
    for (int left : INTEGERS) {
      for (int right : INTEGERS) {
        words(set, left, right);
      }
    }
    dates(set);
    ordered(
        set,
        TypeOid.FLOAT4,
        TypeOid.FLOAT8,
        (a, b) -> FloatMath.compare(FloatMath.ofWord4(a), FloatMath.ofWord8(b)));
    ordered(
        set,
        TypeOid.FLOAT8,
        TypeOid.FLOAT4,
        (a, b) -> FloatMath.compare(FloatMath.ofWord8(a), FloatMath.ofWord4(b)));
  }

  private static void dates(FunctionSet set) {
    ordered(
        set, TypeOid.DATE, TypeOid.TIMESTAMP, (a, b) -> DateTimeMath.compareDate(a, b, Zone.UTC));
    ordered(
        set, TypeOid.TIMESTAMP, TypeOid.DATE, (a, b) -> -DateTimeMath.compareDate(b, a, Zone.UTC));
    zoned(set, TypeOid.DATE, DateTimeMath::compareDate);
    zoned(set, TypeOid.TIMESTAMP, (local, timestamp, zone) -> zone.compareLocal(local, timestamp));
  }

  /// Order of a word that the time zone gives a meaning and a timestamptz.
  @FunctionalInterface
  private interface ZonedComparison {
    int compare(long local, long timestamp, Zone zone);
  }

  private static void zoned(FunctionSet set, int local, ZonedComparison comparison) {
    zoned(set, comparison, "=", "=", order -> order == 0, local);
    zoned(set, comparison, "<>", "<>", order -> order != 0, local);
    zoned(set, comparison, "<", ">", order -> order < 0, local);
    zoned(set, comparison, "<=", ">=", order -> order <= 0, local);
    zoned(set, comparison, ">", "<", order -> order > 0, local);
    zoned(set, comparison, ">=", "<=", order -> order >= 0, local);
  }

  private static void zoned(
      FunctionSet set,
      ZonedComparison comparison,
      String name,
      String mirrored,
      IntPredicate holds,
      int local) {
    int timestamptz = TypeOid.TIMESTAMPTZ;
    set.addStable(
        name,
        TypeOid.BOOL,
        (a, _, c) -> holds.test(comparison.compare(a[0], a[1], c.zone)) ? 1 : 0,
        local,
        timestamptz);
    set.addStable(
        mirrored,
        TypeOid.BOOL,
        (a, _, c) -> holds.test(comparison.compare(a[1], a[0], c.zone)) ? 1 : 0,
        timestamptz,
        local);
  }

  private static boolean isInteger(int oid) {
    return oid == TypeOid.INT2 || oid == TypeOid.INT4 || oid == TypeOid.INT8;
  }

  private static Comparison comparison(ColumnKind kind) {
    return (a, b) -> Ordering.compare(kind, a, b);
  }

  private static void words(FunctionSet set, int left, int right) {
    set.add("=", TypeOid.BOOL, (a, _, _) -> a[0] == a[1] ? 1 : 0, left, right);
    set.add("<>", TypeOid.BOOL, (a, _, _) -> a[0] != a[1] ? 1 : 0, left, right);
    set.add("<", TypeOid.BOOL, (a, _, _) -> a[0] < a[1] ? 1 : 0, left, right);
    set.add("<=", TypeOid.BOOL, (a, _, _) -> a[0] <= a[1] ? 1 : 0, left, right);
    set.add(">", TypeOid.BOOL, (a, _, _) -> a[0] > a[1] ? 1 : 0, left, right);
    set.add(">=", TypeOid.BOOL, (a, _, _) -> a[0] >= a[1] ? 1 : 0, left, right);
  }

  private static void varlena(FunctionSet set, int oid) {
    equality(set, oid);
    unequal(set, oid, oid, Ordering::compareVarlena);
  }

  private static void equality(FunctionSet set, int oid) {
    Body equal = (a, _, _) -> Ordering.equalVarlena(a[0], a[1]) ? 1 : 0;
    Body notEqual = (a, _, _) -> Ordering.equalVarlena(a[0], a[1]) ? 0 : 1;
    set.add("=", TypeOid.BOOL, equal, oid, oid).add("<>", TypeOid.BOOL, notEqual, oid, oid);
  }

  static void ordered(FunctionSet set, int left, int right, Comparison comparison) {
    set.add(
        "=", TypeOid.BOOL, (a, _, _) -> comparison.compare(a[0], a[1]) == 0 ? 1 : 0, left, right);
    set.add(
        "<>", TypeOid.BOOL, (a, _, _) -> comparison.compare(a[0], a[1]) != 0 ? 1 : 0, left, right);
    unequal(set, left, right, comparison);
  }

  private static void unequal(FunctionSet set, int left, int right, Comparison comparison) {
    set.add(
        "<", TypeOid.BOOL, (a, _, _) -> comparison.compare(a[0], a[1]) < 0 ? 1 : 0, left, right);
    set.add(
        "<=", TypeOid.BOOL, (a, _, _) -> comparison.compare(a[0], a[1]) <= 0 ? 1 : 0, left, right);
    set.add(
        ">", TypeOid.BOOL, (a, _, _) -> comparison.compare(a[0], a[1]) > 0 ? 1 : 0, left, right);
    set.add(
        ">=", TypeOid.BOOL, (a, _, _) -> comparison.compare(a[0], a[1]) >= 0 ? 1 : 0, left, right);
  }
}
