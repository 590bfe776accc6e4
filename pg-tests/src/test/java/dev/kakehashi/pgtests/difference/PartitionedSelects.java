package dev.kakehashi.pgtests.difference;

/// Random queries of tables whose partitions are foreign tables; the likes of them in heap have none.
final class PartitionedSelects {
  private final Dice dice;
  private final Expressions expressions;

  /// @param expressions over a table named `a`
  PartitionedSelects(Dice dice, Expressions expressions) {
    this.dice = dice;
    this.expressions = expressions;
  }

  Selects.Query next() {
    String where = " WHERE " + expressions.bool(1);
    String joined =
        " FROM p a "
            + dice.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
            + " (SELECT id, "
            + computed()
            + " AS one, "
            + computed()
            + " AS two FROM r) q ON q.id = a.id";
    return new Selects.Query(
        switch (dice.below(6)) {
          case 0 -> "SELECT a.id, q.id, q.one, q.two" + joined;
          case 1 -> "SELECT a.id, q.one, q.two" + joined + where;
          case 2 -> "SELECT count(*), count(q.one), count(q.two), count(a.i4)" + joined;
          case 3 -> "SELECT a.i2, count(q.two), max(q.id)" + joined + " GROUP BY a.i2";
          case 4 ->
              "SELECT a.id, a.t FROM p a"
                  + where
                  + " AND "
                  + dice.pick("", "NOT ")
                  + "EXISTS (SELECT FROM r WHERE r.id = a.id AND r.i2 > 0)";
          default ->
              "SELECT a.i4, count(*), sum(a.i2), max(a.t) FROM p a" + where + " GROUP BY a.i4";
        },
        false);
  }

  /// An expression that is null above an outer join, and may have a value below it.
  private String computed() {
    return dice.pick(
        "5",
        "true",
        "'x'::text",
        "coalesce(i4, 7)",
        "coalesce(t, 'none')",
        "i2 + 1",
        "id",
        "i4 IS NULL");
  }
}
