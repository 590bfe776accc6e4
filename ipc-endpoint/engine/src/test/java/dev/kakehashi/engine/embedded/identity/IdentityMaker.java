package dev.kakehashi.engine.embedded.identity;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The parts that identities of one seed are made of. Used by one thread.
abstract class IdentityMaker {
  /// Parts of the rows by a predicate, which are all of them together.
  static final List<String> PARTS = List.of(" where <P>", " where not <P>", " where <P> is null");

  final long seed;
  final Dice dice;
  final RandomExpressions expressions;

  /// FROM of most queries, and what is in it.
  final String from;

  final List<String> aliases;

  IdentityMaker(long seed) {
    this.seed = seed;
    dice = new Dice(seed);
    expressions = new RandomExpressions(dice);
    int shape = dice.below(10);
    aliases = shape < 5 ? List.of("q") : shape < 9 ? List.of("q", "r") : List.of("q", "r", "o");
    from =
        switch (shape) {
          case 0, 1, 2, 3 -> "<a> q";
          case 4 -> "(select * from <a> z where " + expressions.scope("z").condition(1) + ") q";
          case 5 -> "<a> q join <b> r on " + joinCondition("q", "r");
          case 6 ->
              "<a> q left join "
                  + dice.pick("<b>", "<b>", "<e>")
                  + " r on "
                  + joinCondition("q", "r");
          case 7 -> "<b> q right join <a> r on " + joinCondition("q", "r");
          case 8 ->
              dice.oneIn(2)
                  ? "<a> q full join <b> r on "
                      + dice.pick("q.i4 = r.i4", "q.t = r.t", "q.nn = r.nn")
                  : "<a> q cross join lateral (select * from <b> z where "
                      + joinCondition("q", "z")
                      + ") r";
          default ->
              "<b> q join <a> r on "
                  + joinCondition("q", "r")
                  + dice.pick(" join", " left join")
                  + " <b> o on "
                  + joinCondition(dice.pick("q", "r"), "o");
        };
    expressions.scope(aliases.toArray(String[]::new));
  }

  /// Goes on with what another one has drawn.
  IdentityMaker(IdentityMaker other) {
    seed = other.seed;
    dice = other.dice;
    expressions = other.expressions;
    from = other.from;
    aliases = other.aliases;
  }

  final String joinCondition(String left, String right) {
    if (dice.oneIn(4)) {
      return expressions.scope(left, right).condition(1)
          + " and "
          + left
          + ".i2 = "
          + right
          + ".i2";
    }
    return dice.pick(
            "%1$s.i4 = %2$s.i4",
            "%1$s.i4 = %2$s.i4",
            "%1$s.id = %2$s.id",
            "%1$s.t = %2$s.t",
            "%1$s.n = %2$s.n",
            "%1$s.nn = %2$s.nn",
            "%1$s.i2 = %2$s.i8",
            "%1$s.i4 = %2$s.f8",
            "%1$s.f8 = %2$s.f8",
            "%1$s.c = %2$s.c and %1$s.id < %2$s.id",
            "%1$s.d = %2$s.d and %1$s.b",
            "%1$s.u = %2$s.u",
            "%1$s.y = %2$s.y",
            "%1$s.iv = %2$s.iv",
            "%1$s.tt = %2$s.tt",
            "%1$s.id = %2$s.i4",
            "%1$s.i4 < %2$s.i2",
            "%1$s.i4 is not distinct from %2$s.i4",
            "(%1$s.i4, %1$s.t) = (%2$s.i4, %2$s.t)",
            "%1$s.d = %2$s.ts",
            "%1$s.v = %2$s.t or %1$s.id = %2$s.id",
            "%1$s.ai = %2$s.ai")
        .formatted(left, right);
  }

  final Identity identity(String name, List<String> left, List<String> right, String predicate) {
    return new Identity(seed, name, forms(left), forms(right), predicate(predicate), Map.of());
  }

  final Identity identity(String name, String left, String right, String predicate) {
    return identity(name, List.of(left), List.of(right), predicate);
  }

  final List<String> forms(List<String> templates) {
    List<String> all = new ArrayList<>();
    for (String template : templates) {
      all.add(TableForms.in(template, dice));
    }
    return all;
  }

  /// The tables of the predicate's subqueries have the same forms on both sides: it is one text.
  final String predicate(String text) {
    return TableForms.in(text, dice);
  }

  final String condition() {
    return expressions.condition(dice.between(1, 3));
  }

  final String ids() {
    return String.join(".id, ", aliases) + ".id";
  }

  final String shown(int count, int depth) {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Kind kind = expressions.keyKind();
      String value = dice.oneIn(2) ? expressions.column(kind) : expressions.of(kind, depth);
      all.add(kind.shown(value) + " as k" + i);
    }
    return String.join(", ", all);
  }

  /// A query over each part, or all of them as one.
  final List<String> parts(String query) {
    List<String> all = new ArrayList<>();
    PARTS.forEach(part -> all.add(query + part));
    return dice.oneIn(2) ? all : List.of(String.join(" union all ", all));
  }
}
