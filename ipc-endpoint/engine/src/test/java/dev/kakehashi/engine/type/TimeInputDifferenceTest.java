package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.testing.Differences;
import dev.kakehashi.engine.type.PostgresOracle.Outcome;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.IntervalFields;
import dev.kakehashi.valuetext.time.Zone;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Texts of dates, times and intervals in all forms are the values that they are in PostgreSQL, or refused with its SQLSTATE.
final class TimeInputDifferenceTest {
  private static final int ROUNDS = Integer.getInteger("kakehashi.texts", 1500);
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
  void shouldReadIntervalsOfAllFieldsAsPostgres() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261125);
    RandomTimeTexts texts = new RandomTimeTexts(seed);
    List<String> differences = new ArrayList<>();
    for (IntervalFields fields : IntervalFields.values()) {
      compare(Types.interval(fields), Zone.UTC, texts, ROUNDS / 3, differences);
      if (fields.hasSeconds()) {
        compare(Types.interval(fields, 2), Zone.UTC, texts, ROUNDS / 10, differences);
      }
    }
    Differences.assertNone(differences, seed);
  }

  @ParameterizedTest
  @CsvSource({"UTC", "Europe/Berlin", "America/New_York"})
  void shouldReadDatesAndTimesAsPostgres(String zone) throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261125);
    RandomTimeTexts texts = new RandomTimeTexts(seed);
    List<String> differences = new ArrayList<>();
    oracle.execute("SET timezone = '" + zone + "'");
    try {
      for (int oid :
          new int[] {
            TypeOid.DATE, TypeOid.TIME, TypeOid.TIMETZ, TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ
          }) {
        compare(SqlType.of(oid), Zone.named(zone), texts, ROUNDS, differences);
      }
    } finally {
      oracle.execute("SET timezone = 'UTC'");
    }
    Differences.assertNone(differences, seed);
  }

  private static void compare(
      SqlType type, Zone zone, RandomTimeTexts random, int rounds, List<String> differences)
      throws SQLException {
    List<String> texts = new ArrayList<>();
    List<String> expressions = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      String text =
          type.oid() == TypeOid.INTERVAL ? random.interval() : random.dateTime(type.oid());
      texts.add(text);
      expressions.add("'" + text + "'::" + Types.format(type));
    }
    List<Outcome> expected = oracle.evaluate(expressions);
    for (int i = 0; i < rounds; i++) {
      String actual = read(type, zone, texts.get(i));
      if (!actual.equals(expected.get(i).shown())) {
        differences.add(
            "'%s'::%s is %s, PostgreSQL %s"
                .formatted(texts.get(i), Types.format(type), actual, expected.get(i)));
      }
    }
  }

  private static String read(SqlType type, Zone zone, String text) {
    ScalarFunction input =
        Objects.requireNonNull(Casts.find(Types.UNKNOWN, type, CastContext.IMPLICIT));
    try (VarHeap heap = new VarHeap()) {
      FunctionContext context = new FunctionContext(heap, 0, 0, FunctionSession.inZone(zone));
      long word = input.body().apply(new long[] {Varlena.of(heap, text)}, 0, context);
      return "[" + Values.toText(type.oid(), word, zone) + "]";
    } catch (EngineException e) {
      return e.code().sqlstate();
    } catch (RuntimeException | AssertionError e) {
      return e.toString();
    }
  }
}
