package dev.kakehashi.engine.embedded.identity;

import java.util.ArrayList;
import java.util.List;

/// Identities of joins and of subqueries that are joins.
final class JoinIdentities extends IdentityMaker {
  JoinIdentities(IdentityMaker other) {
    super(other);
  }

  Identity joinOn() {
    String join = " q join " + dice.pick("<b>", "<b>", "<a>", "<e>") + " r on ";
    String query = "select q.id, r.id from <a>" + join + "(" + joinCondition("q", "r") + ")";
    expressions.scope("q", "r");
    List<String> all = new ArrayList<>();
    PARTS.forEach(part -> all.add(query + part.replace(" where ", " and ")));
    return identity(
        "partitions of joins",
        List.of(query),
        dice.oneIn(2) ? all : List.of(String.join(" union all ", all)),
        expressions.condition(2));
  }

  Identity outerJoin() {
    String right = dice.pick("<b>", "<b>", "<e>", "(select * from <b> z where z.i4 > 2)");
    String on = dice.oneIn(2) ? "<P>" : joinCondition("q", "r") + " and <P>";
    on = on.equals("<P>") ? on : "(" + on.replace(" and <P>", ") and <P>");
    String match = " exists (select 1 from " + right + " r where " + on + ")";
    String left = "select q.id, r.id as o from <a> q join " + right + " r on " + on;
    String alone = " union all select q.id, null::int from <a> q where not" + match;
    expressions.scope("q", "r");
    String outer =
        dice.oneIn(3)
            ? "select q.id, r.id from " + right + " r right join <a> q on " + on
            : "select q.id, r.id from <a> q left join " + right + " r on " + on;
    return identity("outer join", outer, left + alone, expressions.condition(2));
  }

  Identity semiJoin() {
    String right = dice.pick("<b>", "<b>", "<a>", "<e>");
    String where = dice.oneIn(2) ? "<P>" : "q.i4 = r.i4 and <P>";
    expressions.scope("q", "r");
    String other =
        switch (dice.below(3)) {
          case 0 -> "select distinct q.id from <a> q cross join " + right + " r where " + where;
          case 1 ->
              "select q.id from <a> q where (select count(*) from "
                  + right
                  + " r where "
                  + where
                  + ") > 0";
          default ->
              "select id from <a> except select q.id from <a> q where not exists (select 1 from "
                  + right
                  + " r where "
                  + where
                  + ")";
        };
    return identity(
        "semijoin",
        "select q.id from <a> q where exists (select 1 from " + right + " r where " + where + ")",
        other,
        expressions.condition(2));
  }

  Identity membership() {
    String right = dice.pick("<b>", "<b>", "<a>", "<e>");
    Kind kind =
        dice.pick(
            List.of(
                Kind.INTEGER,
                Kind.TEXT,
                Kind.NUMERIC,
                Kind.FLOAT,
                Kind.DATE,
                Kind.BOOL,
                Kind.BIGINT,
                Kind.CHAR,
                Kind.UUID,
                Kind.SPAN));
    String left = expressions.scope("q").of(kind, 1);
    // A column: an aggregate of constants alone would belong to the query around it.
    String value = expressions.scope("r").column(kind);
    String rows = " from " + right + " r where <P>";
    boolean not = dice.oneIn(2);
    String equal = "(" + left + " = " + value + ")";
    expressions.scope("q", "r");
    String spelled =
        "(select case when bool_or"
            + equal
            + " then "
            + !not
            + " when bool_or("
            + equal
            + " is null) then null else "
            + not
            + " end"
            + rows
            + ")";
    String in =
        "("
            + left
            + (not ? dice.pick(" not in ", " <> all ") : dice.pick(" in ", " = any "))
            + "(select "
            + value
            + rows
            + "))";
    String end = " from <a> q";
    return dice.oneIn(2)
        ? identity(
            "membership",
            "select q.id, " + in + end,
            "select q.id, " + spelled + end,
            expressions.condition(1))
        : identity(
            "membership",
            "select q.id" + end + " where " + in,
            "select q.id" + end + " where " + spelled,
            expressions.condition(1));
  }
}
