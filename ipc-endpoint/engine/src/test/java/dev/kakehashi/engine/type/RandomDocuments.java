package dev.kakehashi.engine.type;

import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Random JSON, and random arrays of any type.
final class RandomDocuments {
  private static final List<String> KEYS =
      List.of("a", "b", "c", "aa", "é", "", "0", "1", "a b", "😀", "null");

  private static final List<String> SCALARS =
      List.of(
          "null",
          "true",
          "false",
          "0",
          "-0",
          "1",
          "1.0",
          "1.00",
          "12.50",
          "1e3",
          "-1.5E-2",
          "100",
          "\"\"",
          "\"a\"",
          "\"b\\n\\t\\\"\\\\\\/\"",
          "\"\\u00e9\\u0001\"",
          "\"\\ud83d\\ude00\"",
          "\"1\"",
          "\"é\"");

  private static final List<String> BROKEN =
      List.of(
          "",
          "{",
          "[1,]",
          "{\"a\"}",
          "tru",
          "01",
          "\"\\u0000\"",
          "\"\\udc00\"",
          "1 2",
          "'a'",
          "[\"\\x\"]");

  private final Random random;

  RandomDocuments(Random random) {
    this.random = random;
  }

  String key() {
    return one(KEYS);
  }

  /// An index, also one as the step of a path.
  String index() {
    return Integer.toString(random.nextInt(7) - 3);
  }

  /// Mostly JSON.
  String json() {
    return random.nextInt(25) == 0 ? one(BROKEN) : space() + json(3) + space();
  }

  private String one(List<String> texts) {
    return texts.get(random.nextInt(texts.size()));
  }

  private String space() {
    return one(List.of("", "", "", " ", "\n ", "\t"));
  }

  private String json(int depth) {
    int kind = depth == 0 ? 0 : random.nextInt(4);
    if (kind < 2) {
      return kind == 0 || depth < 3 ? one(SCALARS) : array(depth);
    }
    return kind == 2 ? array(depth) : object(depth);
  }

  private String array(int depth) {
    List<String> elements = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      elements.add(space() + json(depth - 1) + space());
    }
    return "[" + String.join(",", elements) + "]";
  }

  private String object(int depth) {
    List<String> members = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      members.add("\"" + key() + "\"" + space() + ":" + space() + json(depth - 1));
    }
    return "{" + String.join(",", members) + "}";
  }

  /// The path to something, perhaps. Without negative subscripts: PostgreSQL's json counts them from the end of another array, if there is
  /// one in front.
  String path() {
    List<String> steps = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      steps.add(
          random.nextInt(12) == 0
              ? "NULL"
              : quoted(random.nextBoolean() ? Integer.toString(random.nextInt(3)) : key()));
    }
    return "{" + String.join(",", steps) + "}";
  }

  private static String quoted(String element) {
    return '"' + element.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  /// An array in one of its forms: empty, with nulls, of two dimensions, with bounds.
  String array(int arrayOid, RandomValues values) {
    int rows = random.nextInt(3) == 0 ? 2 : 1;
    int length = random.nextInt(4);
    List<String> lines = new ArrayList<>();
    for (int row = 0; row < rows; row++) {
      List<String> elements = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        elements.add(
            random.nextInt(5) == 0 ? "NULL" : quoted(values.value(TypeOid.element(arrayOid))));
      }
      lines.add("{" + String.join(",", elements) + "}");
    }
    if (length == 0) {
      return "{}";
    }
    String lower = random.nextInt(5) == 0 ? index() : "";
    if (rows == 2) {
      return "{" + String.join(",", lines) + "}";
    }
    return lower.isEmpty()
        ? lines.getFirst()
        : "[" + lower + ":" + (Integer.parseInt(lower) + length - 1) + "]=" + lines.getFirst();
  }
}
