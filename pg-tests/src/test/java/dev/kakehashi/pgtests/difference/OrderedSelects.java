package dev.kakehashi.pgtests.difference;

/// Random queries above one that has an order, which PostgreSQL keeps.
final class OrderedSelects {
  private final Dice dice;
  private final Expressions expressions;

  /// @param expressions over table `a`
  OrderedSelects(Dice dice, Expressions expressions) {
    this.dice = dice;
    this.expressions = expressions;
  }

  Selects.Query next() {
    String below = "(" + below() + ") s";
    return new Selects.Query(
        switch (dice.below(10)) {
          case 0 -> "SELECT * FROM " + below;
          case 1 -> "SELECT s.id, s.one FROM " + below + " LIMIT " + dice.below(9);
          case 2 -> "SELECT s.id FROM " + below + " WHERE s.id > 7 OFFSET 2 LIMIT 5";
          case 3 -> "SELECT s.id, row_number() OVER () FROM " + below;
          case 4 -> "SELECT array_agg(s.id), count(*) FROM " + below;
          case 5 -> "SELECT string_agg(s.id::text, ' ') FROM " + below + " WHERE s.id % 3 > 0";
          case 6 -> "SELECT array(SELECT s.id FROM " + below + ")";
          case 7 -> "WITH w AS (SELECT * FROM " + below + ") SELECT id FROM w LIMIT 6";
          case 8 ->
              "SELECT (SELECT s.id FROM "
                  + below
                  + " LIMIT 1), (SELECT count(*) FROM "
                  + below
                  + ")";
          default ->
              "SELECT id FROM b WHERE id IN (SELECT s.id FROM " + below + " LIMIT 6) ORDER BY id";
        },
        true);
  }

  private String below() {
    String direction = dice.pick("", " DESC", " NULLS FIRST", " DESC NULLS LAST");
    String limit = dice.oneIn(3) ? " LIMIT " + dice.between(5, 30) : "";
    return switch (dice.below(4)) {
      case 0 ->
          "SELECT a.id, b.i2 AS one FROM a "
              + dice.pick("JOIN", "LEFT JOIN")
              + " b ON b.id = a.i4 WHERE "
              + expressions.bool(1)
              + " ORDER BY b.i2"
              + direction
              + ", a.id DESC"
              + limit;
      case 1 ->
          "SELECT a.i2 AS id, count(*) AS one FROM a WHERE a.i2 IS NOT NULL GROUP BY a.i2 ORDER BY 2"
              + direction
              + ", 1"
              + limit;
      default ->
          "SELECT a.id, "
              + expressions.of(expressions.kind(), 1)
              + " AS one FROM a WHERE "
              + expressions.bool(1)
              + " ORDER BY "
              + dice.pick("a.i4", "a.d", "a.n", "a.b", "a.i8")
              + direction
              + ", a.id"
              + limit;
    };
  }
}
