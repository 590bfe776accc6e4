package dev.kakehashi.pgtests.difference;

import java.util.ArrayList;
import java.util.List;

/// Random transactions that change table `w`, with savepoints, and with changes that fail.
final class Changes {
  private static final String RETURNING_A = " RETURNING w.id, a.t, a.e, w.i4 + a.i4, a.ai";
  private static final String RETURNING_A_AND_B = " RETURNING w.t, a.*, b.n, b.jb";

  private final Dice dice;
  private final Expressions expressions;
  private final Values small;
  private final Values extreme;

  Changes(Dice dice) {
    this.dice = dice;
    this.expressions = new Expressions(dice, "w");
    this.small = new Values(dice, false);
    this.extreme = new Values(dice, true);
  }

  /// Statements between BEGIN and the end of the transaction. A statement that fails is rolled back to the savepoint before it.
  List<String> next() {
    List<String> statements = new ArrayList<>();
    int open = 0;
    for (int i = dice.between(1, 5); i > 0; i--) {
      switch (dice.below(10)) {
        case 0 -> statements.add("SAVEPOINT s" + open++);
        case 1 -> {
          if (open > 0) {
            statements.add(
                dice.pick("ROLLBACK TO SAVEPOINT s", "RELEASE SAVEPOINT s") + (open - 1));
            if (statements.getLast().startsWith("RELEASE")) {
              open--;
            }
          }
        }
        case 2 ->
            statements.add(
                "SELECT count(*), sum(w.i4), max(w.t), min(w.i8) FROM w WHERE "
                    + expressions.bool(1));
        default -> statements.add(change());
      }
    }
    return statements;
  }

  private String change() {
    return switch (dice.below(8)) {
      case 0, 1 -> insert();
      case 2, 3, 4 -> update();
      case 5, 6 -> delete();
      default -> insertQuery();
    };
  }

  private String returning() {
    return dice.pick(
        "",
        "",
        " RETURNING *",
        " RETURNING w.id",
        " RETURNING w.id, w.t || '!', w.n * 2",
        " RETURNING w.*, tableoid::regclass::text <> ''",
        " RETURNING 1");
  }

  /// As any other, or one with columns of the tables of FROM or USING.
  private String returning(String joined) {
    return dice.oneIn(2) ? joined : returning();
  }

  private String insert() {
    int rows = dice.pick(List.of(1, 1, 1, 2, 5, 40));
    // One bad value at most, or which error comes first would be a matter of taste.
    boolean risky = rows == 1 && dice.oneIn(2);
    StringBuilder sql = new StringBuilder("INSERT INTO w VALUES ");
    for (int i = 0; i < rows; i++) {
      int id = risky && dice.oneIn(3) ? dice.between(1, Tables.ROWS) : 100 + i;
      sql.append(i == 0 ? "(" : ", (").append(id);
      for (String column : Values.COLUMNS) {
        sql.append(", ");
        if (column.equals("i8")) {
          sql.append(risky && id >= 100 && dice.oneIn(4) ? dice.between(1, 40) * 10 : 10_000 + i);
        } else if (dice.oneIn(8)) {
          sql.append(dice.pick("NULL", "DEFAULT"));
        } else {
          sql.append((dice.oneIn(6) ? extreme : small).literal(column));
        }
      }
      sql.append(", ").append(risky && id >= 100 && dice.oneIn(4) ? "NULL" : "7").append(")");
    }
    return sql + conflict() + returning();
  }

  private String conflict() {
    return switch (dice.below(8)) {
      case 0 -> " ON CONFLICT DO NOTHING";
      case 1 -> " ON CONFLICT (id) DO NOTHING";
      case 2 -> " ON CONFLICT (i8) DO NOTHING";
      case 3 -> {
        StringBuilder set = new StringBuilder("must = w.must + excluded.must");
        for (String column : List.of("i4", "n", "t", "d", "e", "jb", "f8")) {
          if (dice.oneIn(4)) {
            set.append(", ")
                .append(column)
                .append(" = ")
                .append(
                    dice.pick(
                        "excluded." + column, "w." + column, "NULL", "DEFAULT", proposed(column)));
          }
        }
        yield " ON CONFLICT ("
            + dice.pick("id", "id", "i8")
            + ") DO UPDATE SET "
            + set
            + (dice.oneIn(3)
                ? " WHERE "
                    + dice.pick(
                        "w.must > 2",
                        "w.i4 < excluded.i4",
                        "excluded.b",
                        "w.t <> upper(excluded.t)")
                : "");
      }
      default -> "";
    };
  }

  private static String proposed(String column) {
    return switch (column) {
      case "i4" -> "w.i4 + coalesce(excluded.i4, 7)";
      case "n" -> "w.n * 2";
      case "t" -> "upper(excluded.t)";
      default -> "coalesce(excluded." + column + ", w." + column + ")";
    };
  }

  private String insertQuery() {
    return switch (dice.below(4)) {
      case 0 ->
          "INSERT INTO w (id, i4, t, must) SELECT a.id + "
              + dice.pick("0", "20", "100")
              + ", a.i4, a.t, 1 FROM a WHERE "
              + onA()
              + conflict()
              + returning();
      case 1 ->
          "INSERT INTO w (id, i8, t, must) SELECT w.id + 200, w.i8 + 20000, w.t, w.must FROM w WHERE "
              + expressions.bool(1)
              + returning();
      case 2 ->
          "INSERT INTO w (id, t, must) SELECT g, 'generated', g FROM generate_series(1000, 1000 + "
              + dice.below(300)
              + ") g";
      default ->
          "WITH moved AS (DELETE FROM w WHERE "
              + expressions.bool(1)
              + " RETURNING id, t, must) INSERT INTO w (id, t, must) SELECT id + 500, t, must FROM moved"
              + returning();
    };
  }

  private String onA() {
    return on("a");
  }

  private String on(String table) {
    expressions.scope(table);
    String condition = expressions.bool(1);
    expressions.scope("w");
    return condition;
  }

  private String where() {
    return switch (dice.below(4)) {
      case 0 -> " WHERE w.id = " + dice.between(1, Tables.ROWS + 2);
      case 1 -> " WHERE w.id IN (" + dice.between(1, 20) + ", " + dice.between(10, 60) + ")";
      default -> " WHERE " + expressions.bool(2);
    };
  }

  private String update() {
    return switch (dice.below(13)) {
      // One row and a value that may not fit.
      case 0 -> {
        String column = dice.pick(Values.COLUMNS);
        yield "UPDATE w SET "
            + column
            + " = "
            + (column.equals("i8") ? "70" : extreme.literal(column))
            + " WHERE w.id = "
            + dice.between(1, Tables.ROWS)
            + returning();
      }
      case 1 ->
          "UPDATE w SET "
              + dice.pick(
                  "must = NULL",
                  "v = 'much too long'",
                  "n = 12345678901",
                  "i2 = 70000::int4",
                  "i4 = i4 / (must - must)",
                  "dm = -1001",
                  "i4 = i4 * 2000000000",
                  "id = 1",
                  "c = 'abcdef'",
                  "e = 'angry'",
                  "i8 = 10")
              + " WHERE w.id = "
              + dice.between(1, Tables.ROWS)
              + returning();
      case 2 ->
          "UPDATE w SET i4 = a.i4, t = a.t FROM a WHERE a.id = w.id AND "
              + onA()
              + returning(RETURNING_A);
      case 3 ->
          "UPDATE w SET t = upper(w.t), n = loc.n FROM loc WHERE loc.id = w.id AND "
              + expressions.bool(1)
              + returning();
      case 4 ->
          "UPDATE w SET (i4, t) = (SELECT max(a.i4), max(a.t) FROM a WHERE a.i2 = w.i2)"
              + where()
              + returning();
      case 9 ->
          "UPDATE w SET n = b.n, t = w.t || coalesce(b.t, '-'), ts = a.ts FROM a LEFT JOIN b ON b.id = a.id + 3 AND "
              + on("b")
              + " WHERE a.id = w.id"
              + dice.pick("", " AND a.i4 > b.i4", " AND b.id IS NULL")
              + returning(RETURNING_A_AND_B);
      case 10 ->
          "UPDATE w SET n = v.n, u = v.u, jb = v.jb FROM w AS v WHERE v.id = w.id + 1 AND "
              + expressions.bool(1)
              + returning(" RETURNING w.id, w.u, v.u, v.iv, w.jb");
      case 11 ->
          "UPDATE w SET "
              + dice.pick(
                  "ai[w.i2] = w.i4",
                  "ai[-1] = 1, ai[w.must] = NULL",
                  "ai[2][1] = 5, at[3] = w.v",
                  "jb['k'] = '1', jb['list'][2]['x'] = w.jb",
                  "jb['a']['b'] = 'null'",
                  "jb[w.t] = w.jb",
                  "jb[w.must] = '[1]'",
                  "v = w.v || w.t || w.must")
              + " WHERE w.id = "
              + dice.between(1, Tables.ROWS)
              + returning();
      case 12 ->
          "UPDATE w SET at[1] = a.t, v = substr(w.v || a.t, 1, 8) FROM a WHERE a.id = w.id AND w.at[1] <> '' AND "
              + onA()
              + returning(RETURNING_A);
      case 5 -> "UPDATE w SET id = w.id + 1000, t = NULL" + where() + returning();
      default -> {
        StringBuilder set = new StringBuilder();
        for (String column :
            List.of("b", "i4", "f8", "nn", "t", "d", "ts", "iv", "jb", "e", "tz")) {
          if (dice.oneIn(4)) {
            set.append(set.isEmpty() ? "" : ", ")
                .append(column)
                .append(" = ")
                .append(value(column));
          }
        }
        yield "UPDATE w SET " + (set.isEmpty() ? "t = w.t" : set) + where() + returning();
      }
    };
  }

  private String value(String column) {
    if (dice.oneIn(6)) {
      return dice.pick("NULL", "DEFAULT", "w." + column);
    }
    for (Kind kind : Kind.values()) {
      if (kind != Kind.KEPT
          && kind != Kind.CHAR
          && kind.columns().contains(column)
          && dice.oneIn(2)) {
        return expressions.of(kind, 2);
      }
    }
    return small.literal(column);
  }

  private String delete() {
    return switch (dice.below(6)) {
      case 4 -> "DELETE FROM w USING a WHERE a.id = w.id AND " + onA() + returning(RETURNING_A);
      case 5 ->
          "DELETE FROM w USING a JOIN b ON b.id = a.id WHERE a.id = w.id "
              + dice.pick("AND ", "AND NOT ")
              + "EXISTS (SELECT FROM k WHERE k.g = w.must AND k.q > b.i2) AND "
              + expressions.bool(1)
              + returning(RETURNING_A_AND_B);
      case 0 ->
          "DELETE FROM w USING a WHERE a.i4 = w.id AND " + onA() + dice.pick("", " RETURNING w.*");
      case 1 -> "DELETE FROM w WHERE w.id IN (SELECT id FROM b WHERE b.b)" + returning();
      default -> "DELETE FROM w" + where() + returning();
    };
  }
}
