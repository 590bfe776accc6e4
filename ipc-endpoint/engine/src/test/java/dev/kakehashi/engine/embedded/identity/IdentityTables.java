package dev.kakehashi.engine.embedded.identity;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

/// Tables `a` and `b` of every frequent type with nulls and duplicates, and `e` without rows. Each is there in two schemas, with the same
/// rows: `p` without key, index or statistics, `x` with all three and a history of changes. Schema `v` has views of them.
final class IdentityTables {
  static final int ROWS = 40;

  /// Types by column. A constant of a column is cast to its type.
  static final Map<String, String> TYPES = new LinkedHashMap<>();

  static {
    for (String column :
        ("id int, i2 smallint, i4 int, i8 bigint, n numeric(12;3), nn numeric, f4 real, f8 double precision, t text, v varchar(8),"
                + " c char(5), y bytea, d date, ts timestamp, tt timestamptz, iv interval, u uuid, b bool, ai int[], at text[], j jsonb")
            .split(", ", -1)) {
      int space = column.indexOf(' ');
      TYPES.put(column.substring(0, space), column.substring(space + 1).replace(';', ','));
    }
  }

  private static final String COLUMNS =
      TYPES.entrySet().stream()
          .map(column -> column.getKey() + " " + column.getValue())
          .collect(Collectors.joining(", "));

  private final Map<String, List<Map<String, String>>> rows = new LinkedHashMap<>();
  private final Dice dice;
  private final Random order;

  IdentityTables(long seed) {
    dice = new Dice(seed);
    order = new Random(seed);
    for (String table : List.of("a", "b", "e")) {
      List<Map<String, String>> all = new ArrayList<>();
      for (int id = 1; id <= (table.equals("a") ? ROWS : table.equals("b") ? ROWS / 2 : 0); id++) {
        // Some rows repeat others in all but their number.
        Map<String, String> row =
            new LinkedHashMap<>(id > 5 && dice.oneIn(5) ? dice.pick(all) : row());
        row.put("id", "'" + id + "'::int");
        all.add(row);
      }
      rows.put(table, all);
    }
  }

  /// Literals by column of a random row of table `a`.
  Map<String, String> rowOfA(Dice chosenBy) {
    return chosenBy.pick(rows.getOrDefault("a", List.of()));
  }

  private Map<String, String> row() {
    Map<String, String> row = new LinkedHashMap<>();
    for (Map.Entry<String, String> column : TYPES.entrySet()) {
      row.put(
          column.getKey(),
          (dice.oneIn(5) ? "null" : literal(dice, column.getKey())) + "::" + column.getValue());
    }
    return row;
  }

  /// Statements that make the tables and fill them.
  List<String> statements() {
    List<String> all =
        new ArrayList<>(List.of("create schema p", "create schema x", "create schema v"));
    for (String table : List.of("a", "b", "e")) {
      all.add("create table p." + table + " (" + COLUMNS + ")");
      all.add("create table x." + table + " (" + COLUMNS + ", primary key (id))");
      for (String index :
          List.of(
              "(i4)",
              "(t, i2)",
              "(n desc)",
              "(d, b)",
              "(f8)",
              "(u)",
              "(upper(t))",
              "(i8) where b",
              "(ts, i4) where i4 > 2",
              "(c)",
              "(nn)")) {
        all.add("create index on x." + table + " " + index);
      }
      all.add("create view v." + table + " as select * from x." + table + " where id is not null");
      List<Map<String, String>> rowsOf = rows.getOrDefault(table, List.of());
      insert(all, "p." + table, rowsOf);
      insert(all, "x." + table, changed(rowsOf));
      for (Map<String, String> row : rowsOf) {
        if (dice.oneIn(2)) {
          all.add(
              "update x."
                  + table
                  + " set "
                  + row.entrySet().stream()
                      .map(column -> column.getKey() + " = " + column.getValue())
                      .collect(Collectors.joining(", "))
                  + " where id = "
                  + row.get("id"));
        } else {
          all.add("delete from x." + table + " where id = " + row.get("id"));
          insert(all, "x." + table, List.of(row));
        }
      }
      all.add("analyze x." + table);
    }
    return all;
  }

  /// The same numbers with other values, which are changed and replaced afterwards.
  private List<Map<String, String>> changed(List<Map<String, String>> rowsOf) {
    List<Map<String, String>> others = new ArrayList<>();
    for (Map<String, String> row : rowsOf) {
      Map<String, String> other = row();
      other.put("id", row.getOrDefault("id", "null"));
      others.add(other);
    }
    Collections.shuffle(others, order);
    return others;
  }

  private static void insert(List<String> all, String table, List<Map<String, String>> rowsOf) {
    for (Map<String, String> row : rowsOf) {
      all.add("insert into " + table + " values (" + String.join(", ", row.values()) + ")");
    }
  }

  /// A value of a column, in quotes.
  static String literal(Dice dice, String column) {
    return "'" + text(dice, column).replace("'", "''") + "'";
  }

  private static String text(Dice dice, String column) {
    return switch (column) {
      case "id" -> Integer.toString(dice.between(1, ROWS + 2));
      case "i2" -> Integer.toString(dice.between(-4, 4));
      case "i4" -> Integer.toString(dice.between(-2, 9));
      case "i8" -> Integer.toString(dice.between(-9, 12));
      case "n" -> Double.toString(dice.between(-12, 30) / 8.0);
      case "nn" ->
          dice.pick(
              "1",
              "1.0",
              "1.00",
              "2.50",
              "-0.125",
              "3.3333333333",
              "0",
              "0.00",
              "NaN",
              "Infinity",
              "-Infinity",
              "12345678901234567890.5");
      case "f4", "f8" ->
          dice.oneIn(4)
              ? dice.pick("NaN", "Infinity", "-Infinity", "-0", "0")
              : Double.toString(dice.between(-8, 40) / 8.0);
      case "t" ->
          dice.pick(
              "", "a", "ab", "abc", "B", "Ünï", "日本", "a%b", "x_y", " pad ", "😀z", "12", "\\",
              "b");
      case "v" -> dice.pick("", "a", "ab", "A", "日本", "abcdefgh", "z ");
      case "c" -> dice.pick("", "a", "ab", "Z", "日本", "abcde");
      case "y" -> dice.pick("\\x", "\\x00", "\\xdeadbeef", "\\x61", "\\x6162");
      case "d" -> "2020-0" + dice.between(1, 3) + "-1" + dice.below(3);
      case "ts" ->
          dice.oneIn(8)
              ? dice.pick("infinity", "-infinity")
              : "2020-0"
                  + dice.between(1, 3)
                  + "-1"
                  + dice.below(3)
                  + dice.pick("", " 12:30:00", " 00:00:00.000001");
      case "tt" ->
          "2020-03-2"
              + dice.between(6, 9)
              + " 0"
              + dice.below(4)
              + ":30:00"
              + dice.pick("+00", "+01", "-05");
      case "iv" ->
          dice.pick(
              "1 mon",
              "30 days",
              "720:00",
              "1 day",
              "24:00",
              "00:00",
              "-1 day",
              "1 mon 3 days 04:05");
      case "u" -> "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1" + dice.below(5);
      case "b" -> dice.pick("t", "f");
      case "ai" -> dice.pick("{}", "{1}", "{1,2}", "{3,NULL}", "{NULL}", "{{1,2},{3,4}}");
      case "at" -> dice.pick("{}", "{a}", "{a,b}", "{NULL,\"x y\"}");
      case "j" ->
          dice.pick(
              "{\"a\": 1}",
              "{\"a\": 2, \"b\": [1]}",
              "[1, 2]",
              "null",
              "7",
              "[\"a\", \"b\"]",
              "{}",
              "\"a\"");
      default -> throw new IllegalArgumentException(column);
    };
  }
}
