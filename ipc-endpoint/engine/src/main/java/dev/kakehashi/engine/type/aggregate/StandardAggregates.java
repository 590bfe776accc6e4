package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The aggregate functions with their types; count(any) is resolved apart.
public final class StandardAggregates {
  private static final int[] SMALL_INTEGERS = {TypeOid.INT2, TypeOid.INT4};
  private static final int[] INTEGERS = {TypeOid.INT2, TypeOid.INT4, TypeOid.INT8};
  private static final int[] EXTREMES = {
    TypeOid.INT2,
    TypeOid.INT4,
    TypeOid.INT8,
    TypeOid.FLOAT4,
    TypeOid.FLOAT8,
    TypeOid.NUMERIC,
    TypeOid.TEXT,
    TypeOid.BPCHAR,
    TypeOid.DATE,
    TypeOid.TIME,
    TypeOid.TIMESTAMP,
    TypeOid.TIMESTAMPTZ,
    TypeOid.INTERVAL
  };
  private static final Map<String, Moment> MOMENTS =
      Map.of(
          "variance", Moment.VARIANCE_SAMPLE,
          "var_samp", Moment.VARIANCE_SAMPLE,
          "var_pop", Moment.VARIANCE_POPULATION,
          "stddev", Moment.DEVIATION_SAMPLE,
          "stddev_samp", Moment.DEVIATION_SAMPLE,
          "stddev_pop", Moment.DEVIATION_POPULATION);

  private static final Map<String, Regression.Statistic> REGRESSIONS =
      Map.ofEntries(
          Map.entry("regr_count", Regression.Statistic.COUNT),
          Map.entry("regr_sxx", Regression.Statistic.SUM_OF_SQUARES_X),
          Map.entry("regr_syy", Regression.Statistic.SUM_OF_SQUARES_Y),
          Map.entry("regr_sxy", Regression.Statistic.SUM_OF_PRODUCTS),
          Map.entry("regr_avgx", Regression.Statistic.AVERAGE_X),
          Map.entry("regr_avgy", Regression.Statistic.AVERAGE_Y),
          Map.entry("covar_pop", Regression.Statistic.COVARIANCE_POPULATION),
          Map.entry("covar_samp", Regression.Statistic.COVARIANCE_SAMPLE),
          Map.entry("corr", Regression.Statistic.CORRELATION),
          Map.entry("regr_r2", Regression.Statistic.DETERMINATION),
          Map.entry("regr_slope", Regression.Statistic.SLOPE),
          Map.entry("regr_intercept", Regression.Statistic.INTERCEPT));

  private final List<AggregateFunction> functions = new ArrayList<>();

  private StandardAggregates() {}

  public static List<AggregateFunction> all() {
    StandardAggregates standard = new StandardAggregates();
    standard.sums();
    standard.moments();
    standard.regressions();
    standard.others();
    return List.copyOf(standard.functions);
  }

  /// count of an argument of any type, or of rows when there is none.
  public static AggregateFunction count(int[] argumentOids) {
    return new AggregateFunction("count", argumentOids, TypeOid.INT8, Count::new);
  }

  /// The value of a scalar subquery.
  public static AggregateFunction singleValue(int oid) {
    return new AggregateFunction("single_value", new int[] {oid}, oid, () -> new SingleValue(oid));
  }

  /// The least or greatest value.
  ///
  /// @param name min or max
  public static AggregateFunction extreme(String name, int oid) {
    return new AggregateFunction(
        name, new int[] {oid}, oid, () -> new Extreme(oid, name.equals("max")));
  }

  /// An aggregate over ordered rows, or null if the name is none.
  ///
  /// @param argumentOids direct argument, then the ordered value
  public static @Nullable AggregateFunction orderedSet(String name, int[] argumentOids) {
    int valueOid = argumentOids[argumentOids.length - 1];
    OrderedSet.Mode mode =
        switch (name) {
          case "percentile_cont" -> OrderedSet.Mode.PERCENTILE_CONT;
          case "percentile_disc" -> OrderedSet.Mode.PERCENTILE_DISC;
          case "mode" -> OrderedSet.Mode.MODE;
          default -> null;
        };
    if (mode == null || argumentOids.length != (mode == OrderedSet.Mode.MODE ? 1 : 2)) {
      return null;
    }
    boolean many = ArrayTypes.isArray(argumentOids[0]) && mode != OrderedSet.Mode.MODE;
    return new AggregateFunction(
        name,
        argumentOids,
        many ? TypeOid.arrayOf(valueOid) : valueOid,
        () -> new OrderedSet(mode, valueOid, many));
  }

  /// An aggregate that says where a row would be among ordered rows, or null if the name is none.
  ///
  /// @param oids types of the row's values and, the same again, of the values that rows are ordered by
  /// @param descending for each value whether great ones come first
  /// @param nullsFirst for each value whether null comes first
  public static @Nullable AggregateFunction hypothetical(
      String name, int[] oids, boolean[] descending, boolean[] nullsFirst) {
    HypotheticalRank.Kind kind = HypotheticalRank.Kind.of(name);
    if (kind == null) {
      return null;
    }
    int result = kind.isFraction() ? TypeOid.FLOAT8 : TypeOid.INT8;
    return new AggregateFunction(
        name, oids, result, () -> new HypotheticalRank(kind, oids, descending, nullsFirst));
  }

  private void add(String name, int result, Supplier<Accumulator> factory, int... arguments) {
    functions.add(new AggregateFunction(name, arguments, result, factory));
  }

  private void sums() {
    for (int oid : SMALL_INTEGERS) {
      add("sum", TypeOid.INT8, () -> new IntegerSum(false), oid);
      add("avg", TypeOid.NUMERIC, () -> new IntegerSum(true), oid);
    }
    add("sum", TypeOid.NUMERIC, () -> new NumericSum(true, false), TypeOid.INT8);
    add("avg", TypeOid.NUMERIC, () -> new NumericSum(true, true), TypeOid.INT8);
    add("sum", TypeOid.NUMERIC, () -> new NumericSum(false, false), TypeOid.NUMERIC);
    add("avg", TypeOid.NUMERIC, () -> new NumericSum(false, true), TypeOid.NUMERIC);
    add("sum", TypeOid.FLOAT4, () -> new FloatSum(true), TypeOid.FLOAT4);
    add("sum", TypeOid.FLOAT8, () -> new FloatSum(false), TypeOid.FLOAT8);
    add("sum", TypeOid.INTERVAL, () -> new IntervalSum(false), TypeOid.INTERVAL);
    add("avg", TypeOid.INTERVAL, () -> new IntervalSum(true), TypeOid.INTERVAL);
    add("avg", TypeOid.FLOAT8, () -> new FloatMoments(true, Moment.AVERAGE), TypeOid.FLOAT4);
    add("avg", TypeOid.FLOAT8, () -> new FloatMoments(false, Moment.AVERAGE), TypeOid.FLOAT8);
  }

  private void moments() {
    MOMENTS.forEach((name, moment) -> {
      for (int oid : INTEGERS) {
        add(name, TypeOid.NUMERIC, () -> new NumericMoments(true, moment), oid);
      }
      add(name, TypeOid.NUMERIC, () -> new NumericMoments(false, moment), TypeOid.NUMERIC);
      add(name, TypeOid.FLOAT8, () -> new FloatMoments(true, moment), TypeOid.FLOAT4);
      add(name, TypeOid.FLOAT8, () -> new FloatMoments(false, moment), TypeOid.FLOAT8);
    });
  }

  private void regressions() {
    REGRESSIONS.forEach((name, statistic) -> {
      int result = statistic == Regression.Statistic.COUNT ? TypeOid.INT8 : TypeOid.FLOAT8;
      add(name, result, () -> new Regression(statistic), TypeOid.FLOAT8, TypeOid.FLOAT8);
    });
  }

  private void others() {
    for (int oid : EXTREMES) {
      functions.add(extreme("min", oid));
      functions.add(extreme("max", oid));
    }
    add("bool_and", TypeOid.BOOL, () -> new BooleanFold(true), TypeOid.BOOL);
    add("every", TypeOid.BOOL, () -> new BooleanFold(true), TypeOid.BOOL);
    add("bool_or", TypeOid.BOOL, () -> new BooleanFold(false), TypeOid.BOOL);
    for (int oid : INTEGERS) {
      add("bit_and", oid, () -> new BitFold(BitFold.Operation.AND), oid);
      add("bit_or", oid, () -> new BitFold(BitFold.Operation.OR), oid);
      add("bit_xor", oid, () -> new BitFold(BitFold.Operation.XOR), oid);
    }
    add("string_agg", TypeOid.TEXT, StringAggregate::new, TypeOid.TEXT, TypeOid.TEXT);
    add("string_agg", TypeOid.BYTEA, StringAggregate::new, TypeOid.BYTEA, TypeOid.BYTEA);
  }
}
