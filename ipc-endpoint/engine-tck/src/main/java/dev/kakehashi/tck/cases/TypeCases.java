package dev.kakehashi.tck.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.protocol.value.PgNumeric;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Every type that crosses the bridge: values go through a table and come back as they were, also the extreme ones; and what does not fit
/// is refused.
public interface TypeCases extends Conformance {
  /// Stores values as parameters, reads them back, and finds each of them by comparison with a parameter.
  private void keeps(String type, int oid, @Nullable Object[] values, String... texts) {
    String table = table("id int4 primary key, v " + type);
    Statement insert =
        client().prepare("insert into " + table + " values ($1, $2)", TypeOid.INT4, oid);
    assertEquals(oid, insert.parameterTypeOids()[1], type);
    for (int id = 0; id < values.length; id++) {
      client().run("insert into " + table + " values ($1, $2)", id, values[id]);
    }
    assertEquals(List.of(texts), client().query("select v from " + table + " order by id"), type);
    Statement select = client().prepare("select v from " + table);
    assertEquals(oid, select.columns().getFirst().typeOid(), type);
  }

  /// Whether each value equals itself and nothing else, and their order is that of the list.
  private void orders(String type, String... ascending) {
    String table = table("v " + type);
    List<String> literals = List.of(ascending);
    client()
        .run("insert into " + table + " values (" + String.join("), (", literals.reversed()) + ")");
    List<String> expected =
        IntStream.range(0, ascending.length).mapToObj(Integer::toString).toList();
    String smaller = "(select count(*) from " + table + " b where b.v < a.v)";
    assertEquals(
        expected, client().query("select " + smaller + " from " + table + " a order by a.v"), type);
    String equal =
        literals.stream()
            .map(literal -> "(select count(*) from " + table + " where v = " + literal + ")")
            .collect(Collectors.joining(", ", "select ", ""));
    assertEquals(
        List.of(String.join("|", Collections.nCopies(ascending.length, "1"))),
        client().query(equal),
        type);
  }

  @Test
  default void shouldKeepBooleansAndNull() {
    keeps("bool", TypeOid.BOOL, new @Nullable Object[] {true, false, null}, "t", "f", "NULL");
  }

  @Test
  default void shouldKeepIntegers() {
    keeps(
        "int2",
        TypeOid.INT2,
        new @Nullable Object[] {-32768, 0, 32767, null},
        "-32768",
        "0",
        "32767",
        "NULL");
    keeps(
        "int4",
        TypeOid.INT4,
        new @Nullable Object[] {Integer.MIN_VALUE, -1, Integer.MAX_VALUE, null},
        "-2147483648",
        "-1",
        "2147483647",
        "NULL");
    keeps(
        "int8",
        TypeOid.INT8,
        new @Nullable Object[] {Long.MIN_VALUE, -1, Long.MAX_VALUE, null},
        "-9223372036854775808",
        "-1",
        "9223372036854775807",
        "NULL");
  }

  @Test
  default void shouldKeepFloats() {
    keeps(
        "float4",
        TypeOid.FLOAT4,
        new @Nullable Object[] {
          1.5f, Float.MIN_VALUE, Float.MAX_VALUE, -0.0f, Float.NaN, Float.NEGATIVE_INFINITY
        },
        "1.5",
        "1.4E-45",
        "3.4028235E38",
        "-0.0",
        "NaN",
        "-Infinity");
    keeps(
        "float8",
        TypeOid.FLOAT8,
        new @Nullable Object[] {
          0.1, Double.MIN_VALUE, Double.MAX_VALUE, -0.0, Double.NaN, Double.POSITIVE_INFINITY
        },
        "0.1",
        "4.9E-324",
        "1.7976931348623157E308",
        "-0.0",
        "NaN",
        "Infinity");
    orders("float8", "'-Infinity'", "-1e308", "0", "5e-324", "1e308", "'Infinity'", "'NaN'");
  }

  @Test
  default void shouldKeepNumericsOfAnyLength() {
    BigDecimal huge = new BigDecimal(BigInteger.TEN.pow(1000).subtract(BigInteger.ONE));
    BigDecimal tiny = BigDecimal.ONE.movePointLeft(1000);
    keeps(
        "numeric",
        TypeOid.NUMERIC,
        new @Nullable Object[] {
          new BigDecimal("1.10"),
          new BigDecimal("-0.00001"),
          huge,
          tiny,
          BigDecimal.ZERO,
          PgNumeric.NAN,
          PgNumeric.POSITIVE_INFINITY,
          PgNumeric.NEGATIVE_INFINITY,
          null
        },
        "1.10",
        "-0.00001",
        huge.toPlainString(),
        tiny.toPlainString(),
        "0",
        "NaN",
        "Infinity",
        "-Infinity",
        "NULL");
    orders(
        "numeric", "'-Infinity'", "-1e100", "0.0", "1e-100", "1", "1e100", "'Infinity'", "'NaN'");
  }

  @Test
  default void shouldRoundNumericsToTheirScale() {
    keeps(
        "numeric(10,2)",
        TypeOid.NUMERIC,
        new @Nullable Object[] {
          new BigDecimal("1.005"), new BigDecimal("-2.5"), new BigDecimal("99999999.99")
        },
        "1.01",
        "-2.50",
        "99999999.99");
    String table = table("v numeric(10,2)");
    refused("22003", () -> client().run("insert into " + table + " values (99999999.995)"));
    assertEquals(
        (10 << 16 | 2) + 4,
        client().prepare("select v from " + table).columns().getFirst().typeModifier());
  }

  @Test
  default void shouldKeepDatesAndTimes() {
    keeps(
        "date",
        TypeOid.DATE,
        new @Nullable Object[] {0, -1, 2145031948, -2451545, Integer.MAX_VALUE, Integer.MIN_VALUE},
        "2000-01-01",
        "1999-12-31",
        "+5874897-12-31",
        "-4713-11-24",
        "infinity",
        "-infinity");
    keeps(
        "time",
        TypeOid.TIME,
        new @Nullable Object[] {0L, 1L, 86_399_999_999L, 86_400_000_000L},
        "00:00",
        "00:00:00.000001",
        "23:59:59.999999",
        "24:00");
    for (String type : new String[] {"timestamp", "timestamptz"}) {
      keeps(
          type,
          type.equals("timestamp") ? TypeOid.TIMESTAMP : TypeOid.TIMESTAMPTZ,
          new @Nullable Object[] {
            1L, -1L, 9223371331199999999L, -211813488000000000L, Long.MAX_VALUE, Long.MIN_VALUE
          },
          "2000-01-01T00:00:00.000001",
          "1999-12-31T23:59:59.999999",
          "+294276-12-31T23:59:59.999999",
          "-4713-11-24T00:00",
          "infinity",
          "-infinity");
    }
    orders(
        "timestamp",
        "'-infinity'",
        "'4714-11-24 00:00 BC'",
        "'2000-01-01 00:00:00.000001'",
        "'2000-01-01 00:00:00.000002'",
        "'infinity'");
  }

  @Test
  default void shouldKeepTimesWithZones() {
    keeps(
        "timetz",
        TypeOid.TIMETZ,
        new @Nullable Object[] {"23:59:59.999999+05:30", "00:00:00-15:59:59", null},
        "23:59:59.999999+05:30",
        "00:00:00-15:59:59",
        "NULL");
  }

  @Test
  default void shouldKeepIntervals() {
    keeps(
        "interval",
        TypeOid.INTERVAL,
        new @Nullable Object[] {
          new PgInterval(14, -3, 1), new PgInterval(0, 0, -1), new PgInterval(2136000000, 0, 0)
        },
        "14/-3/1",
        "0/0/-1",
        "2136000000/0/0");
    // They are equal, and yet not the same.
    assertEquals(List.of("t"), client().query("select interval '1 month' = interval '30 days'"));
  }

  @Test
  default void shouldKeepTexts() {
    String many = "€".repeat(100_000);
    keeps(
        "text",
        TypeOid.TEXT,
        new @Nullable Object[] {"", " a ", "naïve\n\t\\'\"|", "\uD83D\uDE00", many, null},
        "",
        " a ",
        "naïve\n\t\\'\"|",
        "\uD83D\uDE00",
        many,
        "NULL");
    keeps("varchar(5)", TypeOid.VARCHAR, new @Nullable Object[] {"€€€€€", "a  "}, "€€€€€", "a  ");
    keeps("char(5)", TypeOid.BPCHAR, new @Nullable Object[] {"ab   ", "€    "}, "ab   ", "€    ");
    String table = table("v varchar(5), c char(2)");
    refused("22001", () -> client().run("insert into " + table + " values ('abcdef', '')"));
    refused("22001", () -> client().run("insert into " + table + " values ('', 'abc')"));
    assertEquals(1, client().run("insert into " + table + " values ('abcde   ', 'a   ')"));
    assertEquals(List.of("abcde|a "), client().query("select * from " + table));
  }

  @Test
  default void shouldOrderTextsByTheirBytes() {
    orders(
        "text",
        "''",
        "'A'",
        "'B'",
        "'Z'",
        "'a'",
        "'a '",
        "'aa'",
        "'z'",
        "'é'",
        "'€'",
        "'\uFFFD'",
        "'\uD83D\uDE00'");
    assertEquals(
        List.of("t|f|t"),
        client().query("select 'a' < 'b', 'a' = 'a '::text, 'a '::char(3) = 'a'::char(3)"));
  }

  @Test
  default void shouldRefuseTheCharacterZero() {
    refused("22021", () -> client().query("select e'a\\000b'"));
    refused("22021", () -> client().query("select convert_from('\\x610062', 'UTF8')"));
    refused("22021", () -> client().query("select convert_from('\\xff', 'UTF8')"));
  }

  @Test
  default void shouldKeepBytes() {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    keeps(
        "bytea",
        TypeOid.BYTEA,
        new @Nullable Object[] {new byte[0], all, null},
        "",
        java.util.HexFormat.of().formatHex(all),
        "NULL");
    orders("bytea", "''", "'\\x00'", "'\\x0000'", "'\\x01'", "'\\x7f'", "'\\x80'", "'\\xff'");
  }

  @Test
  default void shouldKeepUuids() {
    UUID one = UUID.fromString("ffffffff-ffff-ffff-0000-000000000001");
    keeps(
        "uuid",
        TypeOid.UUID,
        new @Nullable Object[] {one, new UUID(0, 0)},
        one.toString(),
        new UUID(0, 0).toString());
    orders(
        "uuid",
        "'00000000-0000-0000-0000-000000000001'",
        "'7fffffff-ffff-ffff-ffff-ffffffffffff'",
        "'80000000-0000-0000-0000-000000000000'");
  }

  @Test
  default void shouldKeepNamesAndCharacters() {
    keeps("name", TypeOid.NAME, new @Nullable Object[] {"a", "x".repeat(63)}, "a", "x".repeat(63));
    keeps("\"char\"", TypeOid.CHAR, new @Nullable Object[] {"a", "Z"}, "a", "Z");
  }

  @Test
  default void shouldKeepJsonAsItIsWritten() {
    String json = "{\"b\" : 1.10,  \"a\":[null, \"\\u00e9\"], \"a\": 2}";
    keeps("json", TypeOid.JSON, new @Nullable Object[] {json, "null", null}, json, "null", "NULL");
    // In text form a parameter is as PostgreSQL writes it; literals are read.
    keeps(
        "jsonb",
        TypeOid.JSONB,
        new @Nullable Object[] {"{\"a\": 2, \"b\": 1.10}", "100", null},
        "{\"a\": 2, \"b\": 1.10}",
        "100",
        "NULL");
    String table = table("v jsonb");
    client().run("insert into " + table + " values ('" + json + "'), ('1E2')");
    assertEquals(
        List.of("100", "{\"a\": 2, \"b\": 1.10}"),
        client().query("select v from " + table + " order by v"));
    refused("22P02", () -> client().run("insert into " + table + " values ('{')"));
  }

  @Test
  default void shouldKeepArraysOfEachType() {
    arrays("bool", TypeOid.BOOL, "{t,f,NULL}");
    arrays("bytea", TypeOid.BYTEA, "{\"\\\\x00ff\",NULL}");
    arrays("\"char\"", TypeOid.CHAR, "{a,b}");
    arrays("name", TypeOid.NAME, "{a,b}");
    arrays("int2", TypeOid.INT2, "{-32768,32767}");
    arrays("int4", TypeOid.INT4, "{{1,2},{3,NULL}}");
    arrays("int8", TypeOid.INT8, "[0:1]={-9223372036854775808,9223372036854775807}");
    arrays("text", TypeOid.TEXT, "{\"\",\"a,b\",\"NULL\",NULL,\"\\\"\\\\\"}");
    arrays("varchar", TypeOid.VARCHAR, "{a}");
    arrays("char(3)", TypeOid.BPCHAR, "{\"a  \"}");
    arrays("float4", TypeOid.FLOAT4, "{1.5,NaN}");
    arrays("float8", TypeOid.FLOAT8, "{0.1,-Infinity}");
    arrays("numeric", TypeOid.NUMERIC, "{1.10,NaN}");
    arrays("date", TypeOid.DATE, "{2000-01-01,infinity}");
    arrays("time", TypeOid.TIME, "{24:00:00}");
    arrays("timestamp", TypeOid.TIMESTAMP, "{\"2000-01-01 00:00:00.000001\"}");
    arrays("interval", TypeOid.INTERVAL, "{\"1 mon 2 days\"}");
    arrays("uuid", TypeOid.UUID, "{00000000-0000-0000-0000-000000000001}");
    arrays("timetz", TypeOid.TIMETZ, "{00:00:00+01}");
    arrays("json", TypeOid.JSON, "{\"{\\\"a\\\" : 1}\"}");
    arrays("jsonb", TypeOid.JSONB, "{\"{\\\"a\\\": 1}\"}");
  }

  private void arrays(String type, int elementOid, String value) {
    keeps(
        type + "[]",
        TypeOid.arrayOf(elementOid),
        new @Nullable Object[] {value, "{}", null},
        value,
        "{}",
        "NULL");
  }

  @Test
  default void shouldRefuseValuesOutOfRange() {
    refused("22003", () -> client().query("select 32767::int2 + 1::int2"));
    refused("22003", () -> client().query("select 2147483647 + 1"));
    refused("22003", () -> client().query("select 9223372036854775807 + 1"));
    refused("22003", () -> client().query("select 40000::int2"));
    refused("22003", () -> client().query("select 1e308::float8 * 10"));
    refused("22008", () -> client().query("select '2000-02-30'::date"));
    refused("22008", () -> client().query("select '294277-01-01'::timestamp"));
    refused("22P02", () -> client().query("select 'abc'::int4"));
    refused("22P02", () -> client().query("select 'xyz'::uuid"));
    refused("22007", () -> client().query("select 'abc'::date"));
  }

  @Test
  default void shouldComputeAsPostgres() {
    assertEquals(
        List.of("3|-3|-1|3|-3|2|4"),
        client()
            .query(
                "select 7 / 2, -7 / 2, -7 % 3, 2.5::int4, (-2.5)::int4, 2.5::float8::int4, 3.5::float8::int4"));
    assertEquals(
        List.of("0.33333333333333333333|3.3333333333333333|1.01|-2.57"),
        client()
            .query(
                "select 1::numeric(10,2) / 3, 10::numeric(20,4) / 3::numeric(20,4), 1.005::numeric(10,2), round(-2.567, 2)"));
    assertEquals(
        List.of("t|f|2|0"),
        client()
            .query(
                "select 'a_c' like 'a\\_c', 'abc' like 'A%', (select count(distinct v) from (values ('a'), ('a ')) q (v)),"
                    + " extract(dow from date '2000-01-02')"));
    assertEquals(
        List.of("1e+20|1|true|0.30000000000000004"),
        client()
            .query(
                "select 1e20::float8::text, 1::float8::text, true::text, (0.1::float8 + 0.2::float8)::text"));
  }
}
