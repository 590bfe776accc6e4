package dev.kakehashi.engine.type;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.testing.Differences;
import dev.kakehashi.engine.type.PostgresOracle.Outcome;
import dev.kakehashi.engine.type.registry.Aggregates;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Aggregates over random groups have PostgreSQL's results, also when the rows were split among accumulators that were merged.
final class AggregateDifferenceTest {
  private static final int ROUNDS = 12;
  private static PostgresOracle oracle;

  @BeforeAll
  static void startServer() throws SQLException {
    oracle = new PostgresOracle();
  }

  @AfterAll
  static void stopServer() throws SQLException {
    if (oracle != null) {
      oracle.close();
    }
  }

  @Test
  void shouldAggregateAsPostgres() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261125);
    RandomValues values = new RandomValues(seed);
    List<String> differences = new ArrayList<>();
    List<AggregateFunction> functions = new ArrayList<>(Aggregates.all());
    for (int oid : Types.all()) {
      AggregateFunction count = Aggregates.resolve("count", new int[] {oid});
      if (count != null) {
        functions.add(count);
      }
    }
    for (AggregateFunction function : functions) {
      compare(function, values, differences);
    }
    Differences.assertNone(differences, seed);
  }

  private static void compare(
      AggregateFunction function, RandomValues values, List<String> differences)
      throws SQLException {
    List<List<@Nullable String>> groups = new ArrayList<>();
    List<List<@Nullable String>> seconds = new ArrayList<>();
    List<String> queries = new ArrayList<>();
    int oid = function.argumentOids()[0];
    for (int round = 0; round < ROUNDS; round++) {
      List<@Nullable String> rows = new ArrayList<>();
      // Sums of floating-point numbers depend on the order once they round; two rows do not, in
      // either order.
      boolean inexact = oid == TypeOid.FLOAT4 || oid == TypeOid.FLOAT8;
      int count = round == 0 ? 0 : values.below(inexact ? 3 : 12);
      List<@Nullable String> second = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        rows.add(values.below(5) == 0 ? null : values.value(oid));
        second.add(secondValue(function, values));
      }
      groups.add(rows);
      seconds.add(second);
      queries.add(query(function, rows, second));
    }
    List<Outcome> expected = oracle.run(queries);
    for (int i = 0; i < ROUNDS; i++) {
      for (int parts = 1;
          parts <= (oid == TypeOid.FLOAT4 || oid == TypeOid.FLOAT8 ? 1 : 3);
          parts++) {
        String actual = aggregate(function, groups.get(i), seconds.get(i), parts);
        // A sum of intervals may leave the range in another order of additions, as in PostgreSQL's
        // own parallel plans.
        boolean overflow = actual.equals("22008") || "22008".equals(expected.get(i).state());
        boolean accepted = parts > 1 && oid == TypeOid.INTERVAL && overflow;
        if (!actual.equals(expected.get(i).shown()) && !accepted) {
          differences.add(
              queries.get(i)
                  + " in "
                  + parts
                  + " parts is "
                  + actual
                  + ", PostgreSQL "
                  + expected.get(i));
          return;
        }
      }
    }
  }

  /// The delimiter of strings, any other number.
  private static @Nullable String secondValue(AggregateFunction function, RandomValues values) {
    int[] oids = function.argumentOids();
    if (oids.length < 2 || oids[1] != TypeOid.FLOAT8) {
      return "; ";
    }
    return values.below(8) == 0 ? null : values.value(oids[1]);
  }

  private static String query(
      AggregateFunction function, List<@Nullable String> rows, List<@Nullable String> second) {
    int[] oids = function.argumentOids();
    boolean two = oids.length == 2;
    return "SELECT CASE WHEN a IS NOT NULL THEN format('[%s]', a) END FROM (SELECT "
        + function.name()
        + (two ? "(v, w ORDER BY n)" : "(v ORDER BY n)")
        + " AS a FROM unnest("
        + array(oids[0], rows)
        + (two ? ", " + array(oids[1], second) : "")
        + ") WITH ORDINALITY AS u(v"
        + (two ? ", w" : "")
        + ", n)) s";
  }

  private static String array(int oid, List<@Nullable String> rows) {
    StringBuilder array = new StringBuilder("ARRAY[");
    for (int i = 0; i < rows.size(); i++) {
      String text = rows.get(i);
      array.append(i == 0 ? "" : ",");
      array.append(text == null ? "NULL" : PostgresOracle.literal(oid, text));
    }
    String type = oid == TypeOid.BPCHAR ? "bpchar" : Types.name(oid);
    return array.append("]::").append(type).append("[]").toString();
  }

  /// Splits the rows into consecutive parts, each with an accumulator; group 1 of 2 is used, so that groups matter.
  private static String aggregate(
      AggregateFunction function,
      List<@Nullable String> rows,
      List<@Nullable String> second,
      int parts) {
    try (VarHeap heap = new VarHeap();
        Accumulator whole = function.newAccumulator()) {
      whole.resize(2);
      int[] groups = {0, 1};
      for (int part = 0; part < parts; part++) {
        int begin = rows.size() * part / parts;
        int end = rows.size() * (part + 1) / parts;
        try (Accumulator partial = function.newAccumulator()) {
          partial.resize(2);
          fill(
              partial,
              columns(function, rows.subList(begin, end), second.subList(begin, end), heap),
              end - begin,
              part % 2 == 0);
          whole.merge(partial, groups, 2);
        }
      }
      ColumnVector out = new ColumnVector(1);
      whole.result(1, out, 0, new FunctionContext(heap, 0, 0));
      return out.isNull(0) ? "null" : "[" + Values.toText(function.resultOid(), out.words[0]) + "]";
    } catch (EngineException e) {
      return e.code().sqlstate();
    } catch (RuntimeException | AssertionError e) {
      return e.toString();
    }
  }

  private static ColumnVector[] columns(
      AggregateFunction function,
      List<@Nullable String> rows,
      List<@Nullable String> second,
      VarHeap heap) {
    int[] oids = function.argumentOids();
    return oids.length == 1
        ? new ColumnVector[] {column(oids[0], rows, heap)}
        : new ColumnVector[] {column(oids[0], rows, heap), column(oids[1], second, heap)};
  }

  private static ColumnVector column(int oid, List<@Nullable String> rows, VarHeap heap) {
    ColumnVector column = new ColumnVector(Math.max(rows.size(), 1));
    for (int i = 0; i < rows.size(); i++) {
      String text = rows.get(i);
      if (text == null) {
        column.setNull(i);
      } else {
        column.words[i] = Values.parse(oid, text, heap);
      }
    }
    return column;
  }

  private static void fill(
      Accumulator accumulator, ColumnVector[] columns, int count, boolean grouped) {
    if (grouped) {
      int[] groups = new int[Math.max(count, 1)];
      Arrays.fill(groups, 1);
      accumulator.add(columns, null, groups, count);
    } else {
      accumulator.addAll(columns, null, count, 1);
    }
  }

  /// Merged parts differ by roundings only, so these are compared with a tolerance.
  @Test
  void shouldMergePairsOfNumbers() throws SQLException {
    List<@Nullable String> ys = new ArrayList<>();
    List<@Nullable String> xs = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      ys.add(i % 9 == 0 ? null : Integer.toString(i * 7 % 11));
      xs.add(i % 13 == 0 ? null : Integer.toString(i * 5 % 17));
    }
    for (AggregateFunction function : Aggregates.all()) {
      if (Arrays.equals(function.argumentOids(), new int[] {TypeOid.FLOAT8, TypeOid.FLOAT8})) {
        double expected = number(oracle.run(List.of(query(function, ys, xs))).getFirst().shown());
        for (int parts : new int[] {1, 2, 5, 64}) {
          double actual = number(aggregate(function, ys, xs, parts));
          assertEquals(
              expected, actual, Math.abs(expected) * 1e-12, function.name() + " of " + parts);
        }
      }
    }
  }

  private static double number(String shown) {
    return Double.parseDouble(shown.substring(1, shown.length() - 1));
  }
}
