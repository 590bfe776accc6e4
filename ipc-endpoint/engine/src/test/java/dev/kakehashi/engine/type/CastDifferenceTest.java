package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.testing.Differences;
import dev.kakehashi.engine.type.PostgresOracle.Outcome;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Zone;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Conversions have PostgreSQL's results, contexts and SQLSTATEs, with and without type modifiers; so have input and output.
final class CastDifferenceTest {
  private static final int ROUNDS = 25;
  private static final List<SqlType> MODIFIED =
      List.of(
          Types.of(TypeOid.NUMERIC, 5, 2),
          Types.of(TypeOid.NUMERIC, 15, 2),
          Types.of(TypeOid.NUMERIC, 3, 5),
          Types.of(TypeOid.NUMERIC, 4, -2),
          Types.of(TypeOid.VARCHAR, 3),
          Types.of(TypeOid.VARCHAR, 10),
          Types.of(TypeOid.BPCHAR, 1),
          Types.of(TypeOid.BPCHAR, 6),
          Types.of(TypeOid.TIME, 0),
          Types.of(TypeOid.TIMESTAMP, 3),
          Types.of(TypeOid.TIMESTAMPTZ, 0),
          Types.of(TypeOid.INTERVAL, 2));

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

  private static List<SqlType> targets() {
    List<SqlType> targets = new ArrayList<>(MODIFIED);
    for (int oid : Types.all()) {
      targets.add(SqlType.of(oid));
    }
    return targets;
  }

  @Test
  void shouldCastExplicitlyAsPostgres() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261125);
    RandomValues values = new RandomValues(seed);
    List<String> differences = new ArrayList<>();
    for (int from : Types.all()) {
      for (SqlType to : targets()) {
        List<String> texts = texts(values, from, to.oid());
        List<String> expressions =
            texts.stream()
                .map(text -> PostgresOracle.literal(from, text) + "::" + Types.format(to))
                .toList();
        List<Outcome> expected = oracle.evaluate(expressions);
        compare(
            from, to, CastContext.EXPLICIT, Zone.UTC, texts, expressions, expected, differences);
      }
    }
    Differences.assertNone(differences, seed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Europe/Berlin", "America/New_York", "Asia/Kathmandu"})
  void shouldCastTimesWithTimeZoneAsPostgres(String zone) throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261125);
    RandomValues values = new RandomValues(seed);
    List<String> differences = new ArrayList<>();
    oracle.execute("SET timezone = '" + zone + "'");
    try {
      for (int from : Types.all()) {
        for (SqlType to : targets()) {
          boolean zoned = from == TypeOid.TIMESTAMPTZ || to.oid() == TypeOid.TIMESTAMPTZ;
          // Where there is no conversion PostgreSQL reads the literal first.
          if (zoned && Casts.find(from, to, CastContext.EXPLICIT) != null) {
            List<String> texts = texts(values, from, to.oid());
            List<String> expressions =
                texts.stream()
                    .map(text -> PostgresOracle.literal(from, text) + "::" + Types.format(to))
                    .toList();
            List<Outcome> expected = oracle.evaluate(expressions);
            compare(
                from,
                to,
                CastContext.EXPLICIT,
                Zone.named(zone),
                texts,
                expressions,
                expected,
                differences);
          }
        }
      }
    } finally {
      oracle.execute("SET timezone = 'UTC'");
    }
    Differences.assertNone(differences, seed);
  }

  @Test
  void shouldAssignAsPostgres() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261125);
    RandomValues values = new RandomValues(seed);
    List<String> differences = new ArrayList<>();
    for (SqlType to : targets()) {
      oracle.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (c " + Types.format(to) + ")");
      for (int from : Types.all()) {
        List<String> texts = texts(values, from, to.oid());
        List<String> queries =
            texts.stream()
                .map(text ->
                    "WITH i AS (INSERT INTO t VALUES ("
                        + PostgresOracle.literal(from, text)
                        + ") RETURNING c) SELECT CASE WHEN c IS NOT NULL THEN format('[%s]', c) END FROM i")
                .toList();
        // A data-modifying WITH is allowed at the top level of EXECUTE.
        List<Outcome> expected = oracle.run(queries);
        compare(from, to, CastContext.ASSIGNMENT, Zone.UTC, texts, queries, expected, differences);
      }
    }
    Differences.assertNone(differences, seed);
  }

  /// Texts to convert from; for string types those of the target, so that some are valid.
  private static List<String> texts(RandomValues values, int from, int to) {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < ROUNDS; i++) {
      boolean string = TypeClass.of(from) == TypeClass.STRING;
      texts.add(values.value(string && i % 4 > 0 ? to : from));
    }
    return texts;
  }

  private static void compare(
      int from,
      SqlType to,
      CastContext context,
      Zone zone,
      List<String> texts,
      List<String> shown,
      List<Outcome> expected,
      List<String> differences) {
    ScalarFunction cast = Casts.find(from, to, context);
    int count = 0;
    for (int i = 0; i < texts.size() && count < 2; i++) {
      String actual = convert(cast, from, to, texts.get(i), context, zone);
      if (!actual.equals(expected.get(i).shown())) {
        count++;
        differences.add(
            Types.name(from)
                + " "
                + shown.get(i)
                + " is "
                + actual
                + ", PostgreSQL "
                + expected.get(i));
      }
    }
  }

  private static String convert(
      @Nullable ScalarFunction cast,
      int from,
      SqlType to,
      String text,
      CastContext context,
      Zone zone) {
    if (cast == null) {
      return context == CastContext.EXPLICIT ? "42846" : "42804";
    }
    try (VarHeap heap = new VarHeap()) {
      FunctionContext functionContext =
          new FunctionContext(heap, 0, 0, FunctionSession.inZone(zone));
      long word = Values.parse(from, text, heap, zone);
      long result = cast.body().apply(new long[] {word}, 0, functionContext);
      return functionContext.resultIsNull
          ? "null"
          : "[" + Values.toText(to.oid(), result, zone) + "]";
    } catch (EngineException e) {
      return e.code().sqlstate();
    } catch (RuntimeException | AssertionError e) {
      return e.toString();
    }
  }

  @Test
  void shouldConvertImplicitlyWherePostgresDoes() throws SQLException {
    List<String> differences = new ArrayList<>();
    for (int from : Types.all()) {
      for (int to : Types.all()) {
        Outcome outcome =
            oracle
                .run(
                    List.of(
                        "SELECT count(*)::text FROM pg_cast WHERE castcontext = 'i' AND castsource = "
                            + from
                            + " AND casttarget = "
                            + to))
                .get(0);
        boolean expected = from == to || "1".equals(outcome.value());
        if (Casts.isImplicit(from, to) != expected) {
          differences.add(Types.name(from) + " to " + Types.name(to) + ": " + outcome.value());
        }
      }
    }
    Differences.assertNone(differences, 0);
  }
}
