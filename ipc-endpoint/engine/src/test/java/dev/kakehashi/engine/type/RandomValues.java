package dev.kakehashi.engine.type;

import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/// Texts of random values of every type, extremes among them.
final class RandomValues {
  private static final List<String> UNITS =
      List.of(
          "microseconds",
          "milliseconds",
          "second",
          "MINUTE",
          "hour",
          "day",
          "week",
          "month",
          "quarter",
          "year",
          "decade",
          "century",
          "millennium",
          "dow",
          "isodow",
          "doy",
          "isoyear",
          "julian",
          "epoch",
          "timezone",
          "timezone_hour",
          "fortnight");
  private static final Set<String> REGEX_OPERATORS = Set.of("~", "!~", "~*", "!~*");
  private static final List<String> REGEXES =
      List.of(
          "",
          "i",
          "g",
          "gi",
          "n",
          "x1",
          "^a",
          "c$",
          "(a)(b)?",
          "(a|ab)(c|bcd)?",
          "\\1-\\2",
          "[\\&]\\\\",
          "***=a.c",
          "(?i)ABC",
          "a**",
          "(a",
          "a)",
          "[a",
          "*a",
          "a{2",
          "a{3,1}",
          "a{999}",
          "[[:nope:]]",
          "[b-a]",
          "\\q");
  private static final List<String> ATOMS =
      List.of(
          "a",
          "b",
          "ab",
          "(a|b)",
          "(?:bc)",
          ".",
          "[a-c]",
          "[^a-c]",
          "[[:alpha:]]",
          "[[:space:][:digit:]]",
          "[]a]",
          "[^]x-z]",
          "\\d",
          "\\W",
          "\\s",
          "é",
          "日",
          "\\x41",
          "\\u0062",
          "x|",
          "^",
          "$",
          "\\y",
          "\\A",
          "{",
          ",");
  private static final List<String> QUANTIFIERS =
      List.of("", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{1,}");
  private static final List<String> ZONES =
      List.of("UTC", "Europe/Berlin", "america/new_york", "Asia/Kathmandu", "Asia/Tokyo", "Mars");
  private static final List<String> ENCODED =
      List.of(
          "hex",
          "base64",
          "escape",
          "HEX",
          "rot13",
          "",
          "00ff",
          "41 42",
          "4",
          "AAECAw==",
          "AAEC\nAwQ=",
          "QUI=QUI=",
          "=",
          "a\\\\b\\101",
          "a\\4");
  private static final List<String> PATTERNS =
      List.of(
          "A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "CC", "DAY", "DDD", "DD", "DY", "Day", "Dy",
          "D", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "FX", "HH24", "HH12", "HH", "IDDD", "ID",
          "IW", "IYYY", "IYY", "IY", "I", "J", "MI", "MM", "MONTH", "MON", "MS", "Month", "Mon",
          "OF", "P.M.", "PM", "Q", "RM", "SSSSS", "SSSS", "SS", "TZH", "TZM", "TZ", "US", "WW", "W",
          "Y,YYY", "YYYY", "YYY", "YY", "Y", "a.d.", "a.m.", "ad", "am", "b.c.", "bc", "cc", "day",
          "ddd", "dd", "dy", "d", "ff1", "ff2", "ff3", "ff4", "ff5", "ff6", "fx", "hh24", "hh12",
          "hh", "iddd", "id", "iw", "iyyy", "iyy", "iy", "i", "j", "mi", "mm", "month", "mon", "ms",
          "of", "p.m.", "pm", "q", "rm", "sssss", "ssss", "ss", "tzh", "tzm", "tz", "us", "ww", "w",
          "y,yyy", "yyyy", "yyy", "yy", "y");
  private static final List<String> NUMBER_PATTERNS =
      List.of(
          "9", "99", "0", "09", "90", "999", ".", "D", ",", "G", "B", "C", "EEEE", "FM", "L", "MI",
          "PL", "PR", "RN", "SG", "SP", "S", "TH", "th", "V", "v", "rn", "fm", "d", "pr", "eeee",
          "x", "\"9\"", "é");
  private static final List<String> BETWEEN_PATTERNS =
      List.of(
          " ",
          "-",
          "/",
          ".",
          ":",
          "",
          "x",
          "é",
          "\\",
          "\\\"",
          "\"of \\y\"",
          "FM",
          "TM",
          "\"YYYY",
          "SP");
  private static final List<String> WORDS =
      List.of(
          "",
          " ",
          "a",
          "abc",
          "ABC",
          "aab",
          "abab",
          "  pad ",
          "x%y_z",
          "a_c",
          "%b%",
          "a%",
          "_",
          "%",
          "\\%",
          "a\\_c",
          "naïve",
          "日本語",
          "日本",
          "本",
          "😀x",
          "zebra crossing",
          "The quick brown fox",
          "12",
          "-3.5",
          "a,b,,c",
          ",",
          "b",
          "ab",
          "Ünï",
          "tab\there",
          "éa");
  private static final List<String> NUMERICS =
      List.of(
          "0",
          "0.00",
          "1",
          "-1",
          "1.0",
          "1.00",
          "0.1",
          "-0.5",
          "0.5",
          "1.5",
          "2.5",
          "10000",
          "9999",
          "99999999",
          "0.0001",
          "0.00010",
          "1e20",
          "123456789012345678901234567890.123456789",
          "NaN",
          "Infinity",
          "-Infinity",
          "1e-30",
          "999999999999999999",
          "1000000000000000000",
          "9223372036854775807",
          "-9223372036854775808",
          "9223372036854775808",
          "0.9999999999999999999",
          "32767.5",
          "2147483647.4",
          "2147483647.5",
          "1e100",
          "7",
          "2",
          "3",
          "100");
  private static final List<String> FLOATS =
      List.of(
          "0",
          "-0",
          "1",
          "-1",
          "0.1",
          "1.5",
          "2.5",
          "-0.5",
          "1e15",
          "1e14",
          "123456.789",
          "1e-5",
          "0.0001",
          "1e22",
          "1e23",
          "9007199254740993",
          "NaN",
          "Infinity",
          "-Infinity",
          "32767.5",
          "2147483647.5",
          "9223372036854775807",
          "3",
          "100");

  private static final Set<String> JSON_NAMES =
      Set.of("->", "->>", "#>", "#>>", "#-", "?", "?|", "?&", "-");

  private final Random random;
  private final RandomDocuments documents;

  RandomValues(long seed) {
    random = new Random(seed);
    documents = new RandomDocuments(random);
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  private String one(List<String> texts) {
    return texts.get(random.nextInt(texts.size()));
  }

  /// One of some texts.
  String oneOf(String... texts) {
    return texts[random.nextInt(texts.length)];
  }

  /// An argument of a function.
  ///
  /// @param name of the function, because some take units or counts
  String argument(String name, int oid) {
    boolean unit = name.equals("extract") || name.equals("date_part") || name.equals("date_trunc");
    if (oid == TypeOid.TEXT && unit) {
      return one(UNITS);
    }
    boolean makesLong = name.equals("repeat") || name.equals("lpad") || name.equals("rpad");
    if (oid == TypeOid.INT4 && makesLong) {
      // No lengths in between: they would be honoured, with hundreds of megabytes.
      return one(List.of("-2147483648", "2147483647", "-1", "0", "1", "2", "3", "7", "12"));
    }
    boolean regex = name.startsWith("regexp_") || REGEX_OPERATORS.contains(name);
    if (regex && oid == TypeOid.TEXT) {
      return random.nextInt(3) == 0 ? one(WORDS) : regex();
    }
    if (regex && oid == TypeOid.INT4) {
      return Integer.toString(random.nextInt(6) - 1);
    }
    if (name.contains("normalize") && random.nextInt(2) == 0) {
      return one(List.of("NFC", "nfd", "NFKC", "NFKD", "NFX"));
    }
    if (oid == TypeOid.TEXT && name.equals("timezone")) {
      return zone();
    }
    if (oid == TypeOid.TEXT && (name.equals("encode") || name.equals("decode"))) {
      return one(ENCODED);
    }
    if (oid == TypeOid.TEXT && name.equals("to_char")) {
      return template();
    }
    boolean index = name.startsWith("get_b") || name.startsWith("set_b");
    if (oid != TypeOid.BYTEA && (index || name.equals("factorial"))) {
      return Integer.toString(random.nextInt(30) - 2);
    }
    if (oid == TypeOid.INT4 && name.startsWith("make_") && random.nextInt(4) > 0) {
      return Integer.toString(1 + random.nextInt(12));
    }
    boolean subscript = name.startsWith("array_") || name.equals("trim_array");
    if (subscript && oid == TypeOid.INT4 && random.nextInt(4) > 0) {
      return documents.index();
    }
    if (JSON_NAMES.contains(name) || name.startsWith("json")) {
      if (oid == TypeOid.TEXT) {
        return documents.key();
      }
      if (oid == TypeOid.INT4 && random.nextInt(6) > 0) {
        return documents.index();
      }
      if (oid == TypeOid.arrayOf(TypeOid.TEXT)) {
        return documents.path();
      }
    }
    return value(oid);
  }

  /// Name of a time zone, most often a known one.
  String zone() {
    return one(ZONES);
  }

  private String template() {
    return switch (random.nextInt(4)) {
      case 0 -> dateTimeTemplate();
      case 1 -> anyNumberTemplate();
      default -> numberTemplate();
    };
  }

  private String anyNumberTemplate() {
    StringBuilder out = new StringBuilder();
    for (int i = random.nextInt(8); i > 0; i--) {
      out.append(one(NUMBER_PATTERNS));
    }
    return out.toString();
  }

  /// One that makes sense, mostly.
  private String numberTemplate() {
    StringBuilder out =
        new StringBuilder(one(List.of("", "", "FM", "S", "MI", "SG", "PL", "L", "B")));
    out.append(one(List.of("", "", "FM")));
    for (int i = random.nextInt(random.nextInt(4) == 0 ? 22 : 8); i > 0; i--) {
      out.append(one(List.of("9", "9", "9", "9", "0", ",", "G")));
    }
    if (random.nextBoolean()) {
      out.append(one(List.of(".", "D", "V")));
      for (int i = random.nextInt(5); i > 0; i--) {
        out.append(one(List.of("9", "9", "0")));
      }
    }
    return out.append(one(List.of("", "", "", "", "S", "MI", "PR", "TH", "EEEE", "RN", "SG", "PL")))
        .toString();
  }

  private String dateTimeTemplate() {
    StringBuilder out = new StringBuilder();
    for (int i = random.nextInt(6); i > 0; i--) {
      out.append(one(List.of("", "", "FM", "fm", "TM")))
          .append(one(PATTERNS))
          .append(one(List.of("", "", "", "TH", "th", "SP")))
          .append(one(BETWEEN_PATTERNS));
    }
    return out.toString();
  }

  /// A regular expression, or flags, sometimes not valid.
  private String regex() {
    if (random.nextInt(3) == 0) {
      return one(REGEXES);
    }
    StringBuilder out = new StringBuilder();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      out.append(one(ATOMS)).append(one(QUANTIFIERS));
    }
    return out.toString();
  }

  String value(int oid) {
    return switch (oid) {
      case TypeOid.BOOL -> random.nextBoolean() ? "true" : "false";
      case TypeOid.INT2 -> integer(Short.MIN_VALUE, Short.MAX_VALUE, 16);
      case TypeOid.INT4 -> integer(Integer.MIN_VALUE, Integer.MAX_VALUE, 32);
      case TypeOid.INT8 -> integer(Long.MIN_VALUE, Long.MAX_VALUE, 64);
      case TypeOid.FLOAT4 -> float4();
      case TypeOid.FLOAT8 -> float8();
      case TypeOid.NUMERIC -> numeric();
      case TypeOid.TEXT, TypeOid.VARCHAR, Types.UNKNOWN -> text();
      case TypeOid.BPCHAR -> text() + " ".repeat(random.nextInt(3));
      case TypeOid.BYTEA -> bytea();
      case TypeOid.UUID -> uuid();
      case TypeOid.DATE -> date();
      case TypeOid.TIME -> random.nextInt(10) == 0 ? "24:00:00" : time();
      case TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ -> timestamp();
      case TypeOid.INTERVAL -> interval();
      case TypeOid.NAME -> text();
      case TypeOid.CHAR -> one(List.of("", "a", "b", "A", "~"));
      // As PostgreSQL writes it: equal texts are equal values only then.
      case TypeOid.TIMETZ -> time().substring(0, 8) + one(List.of("+00", "+02", "-03:30"));
      case TypeOid.JSON, TypeOid.JSONB -> documents.json();
      default -> {
        if (TypeOid.element(oid) == TypeOid.UNSPECIFIED) {
          throw new IllegalArgumentException("type " + oid);
        }
        yield documents.array(oid, this);
      }
    };
  }

  private String integer(long min, long max, int bits) {
    return switch (random.nextInt(8)) {
      case 0 -> Long.toString(min);
      case 1 -> Long.toString(max);
      case 2, 3, 4 -> Integer.toString(random.nextInt(41) - 20);
      case 5 -> Long.toString(random.nextLong() >> (64 - bits));
      default -> Long.toString((random.nextLong() >> (64 - bits)) >> random.nextInt(bits - 1));
    };
  }

  private String float4() {
    return switch (random.nextInt(5)) {
      case 0 ->
          one(
              List.of(
                  "3.4028235e38",
                  "1e-45",
                  "-3.4e38",
                  "16777217",
                  "1e6",
                  "100000",
                  "1.17549435e-38"));
      case 1 -> {
        float value = Float.intBitsToFloat(random.nextInt());
        yield Float.isNaN(value) ? "NaN" : Float.toString(value);
      }
      case 2 -> Float.toString(random.nextInt(2000) / 8f - 100);
      default -> one(FLOATS.subList(0, 20));
    };
  }

  private String float8() {
    return switch (random.nextInt(5)) {
      case 0 ->
          one(
              List.of(
                  "1.7976931348623157e308",
                  "5e-324",
                  "-1e308",
                  "2.2250738585072014e-308",
                  "9007199254740992",
                  "4503599627370497.5"));
      case 1 -> {
        double value = Double.longBitsToDouble(random.nextLong());
        yield Double.isNaN(value) ? "NaN" : Double.toString(value);
      }
      case 2 -> Double.toString(random.nextInt(20000) / 64.0 - 100);
      default -> one(FLOATS);
    };
  }

  private String numeric() {
    return switch (random.nextInt(6)) {
      case 0, 1 -> one(NUMERICS);
      case 2 ->
          new BigDecimal(new BigInteger(random.nextInt(160), random), random.nextInt(30))
              .toPlainString();
      case 3 -> BigDecimal.valueOf(random.nextInt(2_000_001) - 1_000_000, 2).toPlainString();
      default ->
          BigDecimal.valueOf(random.nextLong() >> random.nextInt(60), random.nextInt(22))
              .toPlainString();
    };
  }

  private String text() {
    if (random.nextInt(3) > 0) {
      return one(WORDS);
    }
    StringBuilder out = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      out.append("abcABC xyzé日%_\\,".charAt(random.nextInt(16)));
    }
    return out.toString();
  }

  private String bytea() {
    StringBuilder out = new StringBuilder("\\x");
    for (int i = random.nextInt(12); i > 0; i--) {
      out.append(String.format("%02x", random.nextInt(3) == 0 ? 0x41 : random.nextInt(256)));
    }
    return out.toString();
  }

  private String uuid() {
    return new UUID(random.nextLong(), random.nextLong()).toString();
  }

  private String date() {
    return switch (random.nextInt(8)) {
      case 0 ->
          one(
              List.of(
                  "infinity",
                  "-infinity",
                  "4714-11-24 BC",
                  "5874897-12-31",
                  "0001-01-01",
                  "0001-12-31 BC",
                  "294276-12-31",
                  "294277-01-01"));
      case 1 ->
          one(
              List.of(
                  "2000-02-29",
                  "1999-12-31",
                  "2000-01-01",
                  "1900-02-28",
                  "2024-02-29",
                  "1970-01-01",
                  "2001-01-01",
                  "2005-01-01",
                  "2008-12-29"));
      default ->
          String.format(
              "%04d-%02d-%02d",
              1 + random.nextInt(random.nextBoolean() ? 3000 : 120000),
              1 + random.nextInt(12),
              1 + random.nextInt(28));
    };
  }

  private String time() {
    return String.format(
        "%02d:%02d:%02d.%06d",
        random.nextInt(24),
        random.nextInt(60),
        random.nextInt(60),
        random.nextInt(3) == 0 ? 0 : random.nextInt(1_000_000));
  }

  private String timestamp() {
    return switch (random.nextInt(8)) {
      case 0 ->
          one(
              List.of(
                  "infinity",
                  "-infinity",
                  "4714-11-24 00:00:00 BC",
                  "294276-12-31 23:59:59.999999",
                  "1970-01-01 00:00:00",
                  "2000-01-01 00:00:00",
                  "0001-01-01 00:00:00",
                  "1999-12-31 23:59:59.9999995"));
      case 1 ->
          String.format(
              "%04d-%02d-%02d %s BC",
              1 + random.nextInt(4000), 1 + random.nextInt(12), 1 + random.nextInt(28), time());
      default ->
          String.format(
              "%04d-%02d-%02d %s",
              1 + random.nextInt(3000), 1 + random.nextInt(12), 1 + random.nextInt(28), time());
    };
  }

  private String interval() {
    return switch (random.nextInt(8)) {
      case 0 ->
          one(
              List.of(
                  "0",
                  "1 mon",
                  "-1 day",
                  "178000000 years",
                  "-178000000 years",
                  "2147483647 days",
                  "-2147483648 days",
                  "2562047788:00:54.775807",
                  "1 mon -30 days",
                  "1 day -24:00:00",
                  "12 mons 30 days 23:59:59.999999"));
      case 1 -> (random.nextInt(200) - 100) + " mons";
      case 2 -> (random.nextInt(2000) - 1000) + " days";
      case 3 -> (random.nextBoolean() ? "-" : "") + time();
      default ->
          (random.nextInt(4000) - 2000)
              + " mons "
              + (random.nextInt(200) - 100)
              + " days "
              + (random.nextBoolean() ? "-" : "")
              + time();
    };
  }
}
