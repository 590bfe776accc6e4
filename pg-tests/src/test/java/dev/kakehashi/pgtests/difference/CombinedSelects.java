package dev.kakehashi.pgtests.difference;

/// Random queries of several tables as one: unions, full joins, locks, rows as values.
final class CombinedSelects {
  private final Dice dice;
  private final Expressions expressions;

  /// @param expressions over table `a`
  CombinedSelects(Dice dice, Expressions expressions) {
    this.dice = dice;
    this.expressions = expressions;
  }

  /// Queries over both tables that are one relation: their rows together, and full joins of some of their rows.
  Selects.Query next() {
    String where = expressions.bool(1);
    return new Selects.Query(
        switch (dice.below(10)) {
          case 4 ->
              "SELECT a.id, b, c FROM a "
                  + dice.pick("JOIN", "LEFT JOIN")
                  + " b ON a.id = b.id + 3 "
                  + dice.pick("LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
                  + " k c ON c.g = b.i2 WHERE "
                  + where;
          case 5 ->
              "SELECT a, b.t FROM a JOIN b ON a.id = b.id WHERE "
                  + where
                  + " ORDER BY b.id"
                  + dice.pick("", " DESC", " LIMIT 3", " DESC OFFSET 2 LIMIT 5");
          case 6 ->
              "SELECT a.id, q FROM a "
                  + dice.pick("JOIN", "LEFT JOIN", "FULL JOIN")
                  + " (SELECT i2, count(*) AS n, max(t) AS t FROM b GROUP BY i2) q ON q.i2 = a.i4 WHERE "
                  + where;
          case 7 ->
              "SELECT a.id, "
                  + dice.pick("u", "u.*, u", "to_jsonb(u)")
                  + " FROM a "
                  + dice.pick("JOIN", "LEFT JOIN")
                  + " (SELECT i2, n AS \"no\" FROM b UNION ALL SELECT i4, n FROM b WHERE i2 > 1) u ON u.i2 = a.i4 WHERE "
                  + where;
          case 8 ->
              "SELECT u FROM (SELECT id, t, d, n FROM a WHERE "
                  + where
                  + " UNION ALL SELECT id, t, d, n FROM b) u";
          case 9 ->
              "SELECT q, a.id FROM (SELECT i2 FROM b UNION SELECT i4 FROM b) q JOIN a ON a.i4 = q.i2 WHERE "
                  + where;
          case 0 ->
              "SELECT u.i4, count(*), max(u.t) FROM (SELECT i4, t FROM a WHERE "
                  + where
                  + " UNION ALL SELECT i4, t FROM b) u GROUP BY u.i4";
          case 1 ->
              "SELECT u.id, c.t FROM (SELECT id, i4 FROM a WHERE "
                  + where
                  + " UNION ALL SELECT id, i2 FROM b) u JOIN b c ON c.id = u.i4";
          case 2 ->
              "SELECT x.id, y.id FROM (SELECT * FROM a WHERE "
                  + where
                  + ") x FULL JOIN (SELECT * FROM b WHERE b.i2 > 0) y ON x.id = y.id";
          default ->
              "SELECT a.id, b.t FROM a JOIN b ON a.id = b.id WHERE "
                  + where
                  + dice.pick(" FOR UPDATE", " FOR SHARE OF a", " FOR NO KEY UPDATE OF b");
        },
        false);
  }
}
