package dev.kakehashi.engine.embedded.identity;

import static dev.kakehashi.engine.embedded.identity.Identity.FOLDED;
import static dev.kakehashi.engine.embedded.identity.Identity.PREDICATE;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Makes the identity of a seed.
///
/// The rules are NoREC (Rigger and Su, "Detecting Optimization Bugs in Database Engines via Non-optimizing Reference Engine Construction",
/// 2020), ternary logic partitioning (the same, "Finding Bugs in Database Systems via Query Partitioning", 2020), constants instead of the
/// columns of one row (after "Testing Database Engines via Pivoted Query Synthesis", 2020), and equalities of the algebra.
final class RandomIdentities extends IdentityMaker {
  private final IdentityTables tables;

  private RandomIdentities(long seed, IdentityTables tables) {
    super(seed);
    this.tables = tables;
  }

  static Identity of(long seed, IdentityTables tables) {
    return new RandomIdentities(seed, tables).next();
  }

  private Identity next() {
    GroupedIdentities grouped = new GroupedIdentities(this);
    JoinIdentities joins = new JoinIdentities(this);
    return switch (dice.below(24)) {
      case 0, 1 -> noRec();
      case 2, 3, 4 -> partitioned();
      case 5 -> distinct();
      case 6 -> grouped.aggregate();
      case 7 -> grouped.groups();
      case 8, 9 -> grouped.having();
      case 10 -> joins.joinOn();
      case 11 -> joins.outerJoin();
      case 12 -> joins.semiJoin();
      case 13 -> joins.membership();
      case 14 -> setOperation();
      case 15 -> top();
      case 16, 17 -> constants();
      case 18 -> plans();
      case 19 -> window();
      case 20 -> new WindowIdentities(this).ignoreNulls();
      case 21 -> grouped.groupByAll();
      default -> rewritten();
    };
  }

  private Identity noRec() {
    String counted =
        dice.pick(
            "coalesce(sum(case when <P> then 1 else 0 end), 0)",
            "count(*) filter (where <P>)",
            "count(case when <P> then 1 end)",
            "count(nullif(coalesce(<P>, false), false))",
            "count(*) - count(case when <P> is not true then 1 end)");
    return identity(
        "norec",
        "select count(*) from " + from + " where <P>",
        "select " + counted + " from " + from,
        condition());
  }

  private Identity partitioned() {
    String query = "select " + ids() + (dice.oneIn(2) ? "" : ", " + shown(2, 2)) + " from " + from;
    return identity("partitions of rows", List.of(query), parts(query), condition());
  }

  private Identity distinct() {
    String list = shown(dice.between(1, 2), 1) + " from " + from;
    List<String> all = new ArrayList<>();
    PARTS.forEach(part -> all.add("select " + dice.pick("", "distinct ") + list + part));
    return identity(
        "partitions of distinct rows",
        "select distinct " + list,
        String.join(" union ", all),
        condition());
  }

  private Identity setOperation() {
    String query = "select " + shown(dice.between(1, 2), 1) + " from " + from;
    return dice.oneIn(2)
        ? identity(
            "except",
            "(" + query + ") except all (" + query + " where <P>)",
            query + " where <P> is not true",
            condition())
        : identity(
            "intersect",
            "(" + query + ") intersect all (" + query + " where <P>)",
            query + " where <P>",
            condition());
  }

  private Identity top() {
    Kind kind = expressions.kind();
    String order =
        (dice.oneIn(2) ? expressions.column(kind) : expressions.of(kind, 1))
            + dice.pick("", " desc", " nulls first", " desc nulls last");
    for (String alias : aliases) {
      order += ", " + alias + ".id" + dice.pick("", " desc");
    }
    int limit = dice.below(9);
    int offset = dice.oneIn(2) ? 0 : dice.below(4);
    String end = " from " + from + " where <P>";
    return identity(
        "first rows",
        "select "
            + ids()
            + end
            + " order by "
            + order
            + " limit "
            + limit
            + (offset == 0 ? "" : " offset " + offset),
        "select "
            + String.join(", ", aliases.stream().map(alias -> "w." + alias + "id").toList())
            + " from (select "
            + String.join(
                ", ", aliases.stream().map(alias -> alias + ".id as " + alias + "id").toList())
            + ", row_number() over (order by "
            + order
            + ") as n"
            + end
            + ") w where w.n > "
            + offset
            + " and w.n <= "
            + (limit + offset),
        condition());
  }

  /// Constants instead of the columns of one row.
  private Identity constants() {
    Map<String, String> row = tables.rowOfA(dice);
    expressions.scope("q");
    Kind kind = dice.oneIn(3) ? expressions.kind() : Kind.BOOL;
    String value = kind == Kind.BOOL ? condition() : expressions.of(kind, 3);
    String id = row.getOrDefault("id", "");
    String shown = kind == Kind.DOCUMENT ? "select (%s)::text" : "select " + kind.shown("(%s)");
    return new Identity(
        seed,
        "constants",
        forms(List.of(shown.formatted(PREDICATE) + " from <a> q where q.id = " + id)),
        List.of(shown.formatted(FOLDED) + " where " + id + " > 0"),
        predicate(value),
        row);
  }

  private Identity plans() {
    String query = "select " + ids() + ", " + shown(2, 2) + " from " + from + " where <P>";
    return identity("plans", query, query, condition());
  }

  private Identity window() {
    Kind kind = expressions.keyKind();
    String key = expressions.column(kind);
    String inner =
        " from (select "
            + ids()
                .replace("q.id", "q.id as id0")
                .replace("r.id", "r.id as id1")
                .replace("o.id", "o.id as id2")
            + ", "
            + key
            + " as k from "
            + from
            + " where <P>) ";
    return identity(
        "window",
        "select w.id0, count(*) over (partition by w.k), sum(w.id0) over (partition by w.k)"
            + inner
            + "w",
        "select w.id0, (select count(*)"
            + inner
            + "m where m.k is not distinct from w.k), (select sum(m.id0)"
            + inner
            + "m where m.k is not distinct from w.k)"
            + inner
            + "w",
        condition());
  }

  /// The same condition in another form.
  private Identity rewritten() {
    String query = "select " + ids() + " from " + from + " where ";
    String more = condition();
    String rewritten =
        dice.pick(
            "not (not <P>)",
            "<P> is true",
            "<P> = true",
            "<P> is not distinct from true",
            "case when <P> then true else false end",
            "coalesce(<P>, false)",
            "not (<P> is not true)",
            "(<P> or <P>)",
            "(select <P>)");
    return switch (dice.below(4)) {
      case 0 ->
          identity(
              "conjunction",
              query + "<P> and " + more,
              query + more + " and " + rewritten,
              condition());
      case 1 ->
          identity(
              "disjunction",
              query + "<P> or " + more,
              query + "not (not " + more + " and not <P>)",
              condition());
      case 2 ->
          identity(
              "derived condition",
              query + "<P>",
              "select "
                  + String.join(", ", aliases.stream().map(alias -> "w.i" + alias).toList())
                  + " from (select "
                  + String.join(
                      ", ", aliases.stream().map(alias -> alias + ".id as i" + alias).toList())
                  + ", <P> as p from "
                  + from
                  + ") w where w.p",
              condition());
      default -> identity("rewritten", query + "<P>", query + rewritten, condition());
    };
  }
}
