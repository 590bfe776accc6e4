package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Functions of PostgreSQL 16 to 19, which the PostgreSQL of the other tests may not have: the values are those of its documentation.
final class LaterFunctionsTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void assertValue(String expected, String expression) {
    assertEquals(List.of(expected), engine.query("select " + expression), expression);
  }

  private void assertRefused(String sqlstate, String expression) {
    TestEngine.assertState(sqlstate, () -> engine.query("select " + expression));
  }

  @Test
  void shouldComputeBytes() {
    assertValue("891568578", "crc32('abc'::bytea)");
    assertValue("910901175", "crc32c('abc'::bytea)");
    assertValue("0", "crc32('')");
    assertValue("\\xcdab", "reverse('\\xabcd'::bytea)");
    assertValue("cba", "reverse('abc')");
    assertValue("-_8", "encode('\\xfbff', 'base64url')");
    assertValue("\\xfbff", "decode('-_8', 'base64url')");
    assertValue("\\xfbff", "decode('-_8=', 'base64url')");
    assertValue("\\xfbff", "decode('+/8', 'base64url')");
    assertValue("\\xfb", "decode('-_==', 'base64url')");
    assertValue("\\xfbf0", "decode('-_=', 'base64url')");
    assertValue("\\xfbff0000", "decode('-_8=AAAA', 'base64url')");
    for (String text : List.of("-_8==", "=", "-=", "-_8A=")) {
      assertRefused("22023", "decode('" + text + "', 'base64url')");
    }
    assertRefused("22023", "decode('A', 'base64url')");
    assertRefused("22023", "decode('-_8', 'base64')");
    assertValue("CPNMUOJ1E8======", "encode('foobar', 'base32hex')");
    assertValue("CPNG====", "encode('fo', 'base32hex')");
    assertValue("foobar", "convert_from(decode(E'cpnm uoj1\\ne8', 'base32hex'), 'UTF8')");
    for (String text : List.of("CPNG", "CPNG===", "CPNG=====", "CPNH", "cpng")) {
      assertValue("\\x666f", "decode('" + text + "', 'base32hex')");
    }
    assertValue("\\x", "decode('C', 'base32hex')");
    for (String text :
        List.of("=", "C=", "CPN=", "CPNMUO==", "CPNMUOJ1=", "CP=NG", "CPNG====CPNG", "CPNZ")) {
      assertRefused("22023", "decode('" + text + "', 'base32hex')");
    }
  }

  @Test
  void shouldReadWhatItWrites() {
    long seed = Long.getLong("kakehashi.seed", 20261129L);
    System.out.println("LaterFunctionsTest: -Dkakehashi.seed=" + seed);
    Random random = new Random(seed);
    for (int length = 0; length < 40; length++) {
      StringBuilder hex = new StringBuilder("\\x");
      for (int i = 0; i < length; i++) {
        hex.append("%02x".formatted(random.nextInt(256)));
      }
      for (String format : List.of("base64url", "base32hex", "base64")) {
        assertValue(hex.toString(), "decode(encode('%s', '%s'), '%2$s')".formatted(hex, format));
      }
    }
  }

  @Test
  void shouldComputeNumbers() {
    assertValue("100", "to_oct(64)");
    assertValue("37777777777", "to_oct(-1)");
    assertValue("101010", "to_bin(42)");
    assertValue("1".repeat(64), "to_bin(-1::bigint)");
    assertValue("24", "gamma(5)");
    assertValue("Infinity", "gamma('infinity')");
    assertValue("NaN", "gamma('NaN')");
    for (String x : List.of("0", "-1", "'-infinity'", "200")) {
      assertRefused("22003", "gamma(" + x + ")");
    }
    assertValue("0", "lgamma(1)");
    assertValue("Infinity", "lgamma('-infinity')");
    assertRefused("22003", "lgamma(0)");
    assertRefused("22003", "lgamma(-3)");
    assertValue("0.8427", "round(erf(1)::numeric, 4)");
    assertValue("1", "erf('infinity')");
    assertValue("0.1573", "round(erfc(1)::numeric, 4)");
    assertValue("NaN", "erfc('NaN')");
  }

  @Test
  void shouldChangeArraysAndDocuments() {
    assertValue("{{5,6},{3,4},{1,2}}", "array_reverse(array[[1,2],[3,4],[5,6]])");
    assertValue("{NULL,b,a}", "array_reverse(array['a','b',null])");
    assertValue("{}", "array_reverse('{}'::int[])");
    assertValue("{{2,1},{2,4},{6,5}}", "array_sort(array[[2,4],[2,1],[6,5]])");
    assertValue("{1,2,3,NULL}", "array_sort(array[3,null,1,2])");
    assertValue("{NULL,3,2,1}", "array_sort(array[3,null,1,2], true)");
    assertValue("{3,2,1,NULL}", "array_sort(array[3,null,1,2], true, false)");
    assertValue("{NULL,1,2,3}", "array_sort(array[3,null,1,2], false, true)");
    assertValue("{a,ab,b}", "array_sort('{b,ab,a}'::text[])");
    assertValue("{2020-01-01,2021-01-01}", "array_sort('{2021-01-01,2020-01-01}'::date[])");
    assertValue("[3:4]={1,2}", "array_sort('[3:4]={2,1}'::int[])");
    assertValue("[3:4]={1,2}", "array_reverse('[3:4]={2,1}'::int[])");
    assertValue("{1}", "array_sort('{1}'::json[])");
    assertRefused("0A000", "array_sort('{1,2}'::json[])");
    assertRefused("42883", "array_sort(1)");
    assertValue(
        "[{\"f1\":1},2,null,3]", "json_strip_nulls('[{\"f1\":1, \"f2\":null}, 2, null, 3]')");
    assertValue("[1,2,{},[]]", "json_strip_nulls('[1, null, 2, {\"a\": null}, [null]]', true)");
    assertValue("[1, 2, 3, 4]", "jsonb_strip_nulls('[1,2,null,3,4]', true)");
    assertValue("[1, null]", "jsonb_strip_nulls('[1, null]', false)");
    assertValue("null", "jsonb_strip_nulls('null', true)");
  }

  @Test
  void shouldRefuseNull() {
    assertValue("42", "error_on_null(42)");
    assertRefused("22004", "error_on_null(null::int)");
    assertRefused("42804", "error_on_null(null)");
    engine.run("create table t (a int, b text)");
    engine.run("insert into t values (1, 'x'), (2, null)");
    assertEquals(List.of("x"), engine.query("select error_on_null(b) from t where a = 1"));
    TestEngine.assertState("22004", () -> engine.query("select error_on_null(b) from t"));
  }

  @Test
  void shouldAddToTimesInAZone() {
    assertValue(
        "2021-10-31 23:00:00+00",
        "date_add('2021-10-31 00:00:00+02'::timestamptz, '1 day'::interval, 'Europe/Warsaw')");
    assertValue(
        "2021-10-30 22:00:00+00",
        "date_subtract('2021-11-01 00:00:00+01'::timestamptz, '1 day'::interval, 'Europe/Warsaw')");
    assertValue(
        "2021-11-01 00:00:00+00", "date_add('2021-10-31 00:00:00+00'::timestamptz, '1 day')");
    assertValue(
        "2021-10-30 00:00:00+00", "date_subtract('2021-10-31 00:00:00+00'::timestamptz, '1 day')");
    assertRefused("22023", "date_add(now(), '1 day'::interval, 'Nowhere/At_all')");
  }

  @Test
  void shouldKnowUuids() {
    assertValue("7", "uuid_extract_version('019535d9-3df7-79fb-b466-fa907fa17f9e')");
    assertValue("4", "uuid_extract_version(uuidv4())");
    assertValue("NULL", "uuid_extract_version('11111111-1111-5111-0111-111111111111')");
    assertValue(
        "2025-02-24 02:46:24.503+00",
        "uuid_extract_timestamp('019535d9-3df7-79fb-b466-fa907fa17f9e')");
    assertValue(
        "2022-02-22 19:22:22+00", "uuid_extract_timestamp('C232AB00-9414-11EC-B3C8-9F6BDECED846')");
    assertValue("NULL", "uuid_extract_timestamp('41db1265-8bc1-4ab3-992f-885799a4af1d')");
    assertValue(
        "t",
        "uuid_extract_timestamp(uuidv7()) between clock_timestamp() - interval '1 minute' and clock_timestamp()");
    assertValue(
        "t",
        "uuid_extract_timestamp(uuidv7('1 day')) between clock_timestamp() + interval '23 hours' and clock_timestamp() + interval '25 hours'");
    assertRefused("22008", "uuidv7('-100 years')");
    List<String> made =
        engine.query("select uuidv7() from generate_series(1, 2000) s(i) order by i");
    assertEquals(made.stream().distinct().sorted().toList(), made);
    assertTrue(made.stream().allMatch(each -> each.charAt(14) == '7'));
  }
}
