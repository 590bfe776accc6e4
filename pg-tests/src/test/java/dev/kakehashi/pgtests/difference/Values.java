package dev.kakehashi.pgtests.difference;

import java.util.List;

/// Values of the columns of [Tables], small or extreme.
final class Values {
  static final List<String> COLUMNS =
      List.of(
          "b", "i2", "i4", "i8", "f4", "f8", "n", "nn", "t", "v", "c", "ch", "na", "by", "d", "tm",
          "tz", "ts", "tt", "iv", "u", "j", "jb", "ai", "at", "e", "dm");

  private final Dice dice;
  private final boolean extreme;

  Values(Dice dice, boolean extreme) {
    this.dice = dice;
    this.extreme = extreme;
  }

  /// In quotes, so that PostgreSQL gives it the column's type.
  String literal(String column) {
    return "'" + text(column).replace("'", "''") + "'";
  }

  /// Without quotes.
  String text(String column) {
    return extreme && !dice.oneIn(4) ? extreme(column) : small(column);
  }

  String small(String column) {
    return switch (column) {
      case "b" -> dice.pick("t", "f");
      case "i2" -> Integer.toString(dice.between(-5, 5));
      case "id" -> Integer.toString(dice.between(1, Tables.ROWS + 5));
      case "i4" -> Integer.toString(dice.between(-3, 12));
      case "i8" -> Integer.toString(dice.between(-20, 20));
      case "f4" -> Double.toString(dice.between(-8, 40) / 8.0);
      case "f8" ->
          dice.oneIn(8)
              ? dice.pick("NaN", "Infinity", "-Infinity")
              : Double.toString(dice.between(-8, 80) / 8.0);
      case "n" -> Double.toString(dice.between(-20, 60) / 8.0);
      case "nn" ->
          dice.oneIn(8)
              ? dice.pick("NaN", "Infinity", "-Infinity", "0.00", "123456789012345678901234.5")
              : dice.pick("1", "1.0", "1.00", "2.50", "-0.125", "3.3333333333", "100", "0");
      case "t" ->
          dice.pick(
              "", "a", "ab", "abc", "B", "Ünï", "日本語", "a%b", "x_y", " pad ", "😀z", "12", "\\");
      case "v" -> dice.pick("", "a", "ab", "A", "日本", "abcdefgh", "z ");
      case "c" -> dice.pick("", "a", "ab", "Z", "日本", "abcde");
      case "ch" -> dice.pick("a", "b", "Z", "");
      case "na" -> dice.pick("one", "two", "Three", "");
      case "by" -> dice.pick("\\x", "\\x00", "\\xdeadbeef", "\\x61", "\\x6162");
      case "d" -> "2020-0" + dice.between(1, 4) + "-1" + dice.below(4);
      case "tm" ->
          "0"
              + dice.below(6)
              + ":"
              + dice.pick("00", "30")
              + ":00"
              + dice.pick("", ".5", ".000001");
      case "tz" -> "0" + dice.below(4) + ":00:00" + dice.pick("+00", "+02", "-03:30");
      case "ts" ->
          "2020-03-"
              + dice.between(26, 31)
              + " 0"
              + dice.between(0, 4)
              + ":"
              + dice.pick("00", "30")
              + ":00";
      case "tt" ->
          "2020-03-"
              + dice.between(26, 31)
              + " 0"
              + dice.between(0, 4)
              + ":30:00"
              + dice.pick("+00", "+01", "-05");
      case "iv" -> dice.below(3) + " mon " + dice.below(40) + " days 0" + dice.below(9) + ":00";
      case "u" -> "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1" + dice.below(8);
      case "j" -> dice.pick("{\"a\": 1}", "[1, 2]", "null", "\"s\"");
      case "jb" ->
          dice.pick(
              "{\"a\": 1}",
              "{\"a\": 2, \"b\": [1]}",
              "[1, 2]",
              "null",
              "7",
              "{\"a\": 1.0}",
              "[\"a\", \"b\"]");
      case "ai" -> dice.pick("{}", "{1}", "{1,2}", "{3,NULL}", "{{1,2},{3,4}}");
      case "at" -> dice.pick("{}", "{a}", "{a,b}", "{NULL,\"x y\"}");
      case "e" -> dice.pick("sad", "ok", "happy");
      case "dm" -> Integer.toString(dice.between(-2, 9));
      default -> throw new IllegalArgumentException(column);
    };
  }

  private String extreme(String column) {
    return switch (column) {
      case "i2" -> dice.pick("-32768", "32767", "-1", "0", "181", "182");
      case "i4" -> dice.pick("-2147483648", "2147483647", "-1", "0", "46341", "65536");
      case "i8" ->
          dice.pick(
              "-9223372036854775808",
              "9223372036854775807",
              "-1",
              "0",
              "9007199254740993",
              "4294967296",
              "-2147483649");
      case "f4" ->
          dice.pick(
              "NaN",
              "Infinity",
              "-Infinity",
              "-0",
              "0",
              "3.4028235e38",
              "1e-45",
              "16777217",
              "0.1",
              "-3.4e38");
      case "f8" ->
          dice.pick(
              "NaN",
              "Infinity",
              "-Infinity",
              "-0",
              "0",
              "1.7976931348623157e308",
              "5e-324",
              "9007199254740992",
              "0.1",
              "-1e308",
              "2.2250738585072014e-308",
              "1e15");
      case "n" ->
          dice.pick(
              "NaN", "999999999.999", "-999999999.999", "0.001", "-0.001", "0", "0.5", "-2.5");
      case "nn" ->
          dice.pick(
              "NaN",
              "Infinity",
              "-Infinity",
              "1e100",
              "-1e100",
              "1e-100",
              "0",
              "0.000",
              "1.0",
              "2.5",
              "-2.5",
              "99999999999999999999.99999999999999999999",
              "123456789012345678901234567890.123456789",
              "9223372036854775808",
              "0.5");
      case "t" ->
          dice.pick(
              "",
              " ",
              "日本語の文字列 🌉",
              "é",
              "e\u0301",
              "%",
              "_",
              "\\",
              "a\\",
              "\t\n",
              "zzzzzzzzzzzzzzzzzzzz",
              "'\"",
              "x".repeat(3000),
              "日".repeat(700));
      case "v" -> dice.pick("", "日本語の文字列だ", "        ", "a", "%", "_\\");
      case "c" -> dice.pick("", "a", "日本語の文", "     ", "a b", "\t");
      case "ch" -> dice.pick("", "a", "\\377", "~");
      case "na" -> dice.pick("", "n".repeat(63), "Odd \"na'me\"", "日本");
      case "by" -> dice.pick("\\x", "\\x00", "\\xff", "\\x00ff00ff", "\\x" + "ab".repeat(3000));
      case "d" ->
          dice.pick(
              "infinity",
              "-infinity",
              "4713-01-01 BC",
              "5874897-12-31",
              "0001-12-31 BC",
              "0001-01-01",
              "294276-12-31",
              "294277-01-01",
              "2000-02-29",
              "1900-02-28",
              "1970-01-01",
              "2000-01-01");
      case "tm" -> dice.pick("00:00", "24:00", "23:59:59.999999", "00:00:00.000001");
      case "tz" -> dice.pick("00:00+15:59", "24:00-15:59", "12:00+00", "23:59:59.999999+14");
      case "ts" ->
          dice.pick(
              "infinity",
              "-infinity",
              "4713-01-01 BC",
              "294276-12-31 23:59:59.999999",
              "0001-01-01 BC",
              "2000-01-01",
              "1999-12-31 23:59:59.999999",
              "2016-02-29 12:00");
      case "tt" ->
          dice.pick(
              "infinity",
              "-infinity",
              "4713-01-02 BC",
              "294276-12-30 23:59:59.999999+00",
              "2020-03-29 01:30+00",
              "2020-10-25 01:30+00",
              "2000-01-01+00");
      case "iv" ->
          dice.pick(
              "178000000 years",
              "-178000000 years",
              "2147483647 days",
              "-2147483648 days",
              "1 mon -30 days",
              "00:00",
              "1 day -24:00",
              "30 days",
              "1 mon",
              "2562047788:00:54.775807",
              "-1 mon +1 day -00:00:00.000001");
      case "u" ->
          dice.pick(
              "00000000-0000-0000-0000-000000000000",
              "ffffffff-ffff-ffff-ffff-ffffffffffff",
              "80000000-0000-0000-0000-000000000000",
              "7fffffff-ffff-ffff-8000-000000000000");
      case "j" -> dice.pick("{\"a\" :  [1, null, \"ü\"]}", "[]", "1e400", "\"\"");
      case "jb" ->
          dice.pick("{}", "[]", "1e400", "\"\"", "{\"a\": {\"b\": [null, true]}}", "-0.10");
      case "ai" ->
          dice.pick(
              "[5:6]={1,2}", "{2147483647,-2147483648}", "{NULL}", "[0:1][-1:0]={{1,2},{3,NULL}}");
      case "at" -> dice.pick("{\"\",NULL,\"NULL\",\"a,b\"}", "{\"\\\"q\\\\\"}", "{日本}");
      case "dm" -> dice.pick("-999", "2147483647", "0");
      default -> small(column);
    };
  }
}
