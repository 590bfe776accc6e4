package dev.kakehashi.engine.embedded.identity;

import java.util.ArrayList;
import java.util.List;

/// Identities of IGNORE NULLS, which a subquery of the rows with values says, too.
final class WindowIdentities extends IdentityMaker {
  WindowIdentities(IdentityMaker other) {
    super(other);
  }

  /// A window function, and the rows of `m` that it chooses from for a row of `w`.
  ///
  /// @param rows conditions on the number of the row
  /// @param order of the rows
  /// @param skipped rows before the one that is taken
  private record Choice(String call, String frame, String rows, String order, int skipped) {}

  Identity ignoreNulls() {
    String key = expressions.column(expressions.keyKind());
    Kind kind = expressions.keyKind();
    String value = dice.oneIn(2) ? expressions.column(kind) : expressions.of(kind, 1);
    List<String> ids = new ArrayList<>();
    for (String alias : aliases) {
      ids.add(alias + ".id as i" + alias);
    }
    String rows =
        "(select %s, %s as k, row_number() over (partition by %s order by %s) as n, %s as v from %s where <P>)"
            .formatted(String.join(", ", ids), key, key, ids(), value, from);
    Choice choice = dice.oneIn(2) ? neighbour() : ofFrame();
    String shown = "w.i" + String.join(", w.i", aliases);
    return identity(
        "ignore nulls",
        "select %s, %s from (select w.*, %s ignore nulls over (partition by w.k order by w.n%s) as f from %s w) w"
            .formatted(shown, kind.shown("w.f"), choice.call, choice.frame, rows),
        "select %s, %s from (select w.*, (select m.v from %s m where m.k is not distinct from w.k and m.v is not null and %s order by m.n%s limit 1 offset %d) as f from %s w) w"
            .formatted(
                shown, kind.shown("w.f"), rows, choice.rows, choice.order, choice.skipped, rows),
        condition());
  }

  private Choice neighbour() {
    int offset = dice.between(1, 3);
    boolean before = dice.oneIn(2);
    // The other function with a negative offset is the same.
    boolean negated = dice.oneIn(4);
    String call =
        (before ^ negated ? "lag" : "lead")
            + "(w.v"
            + (offset == 1 && !negated && dice.oneIn(2) ? "" : ", " + (negated ? -offset : offset))
            + ")";
    return new Choice(
        call, "", before ? "m.n < w.n" : "m.n > w.n", before ? " desc" : "", offset - 1);
  }

  private Choice ofFrame() {
    int before = dice.below(4);
    int after = dice.below(4);
    boolean excludes = dice.oneIn(3);
    String frame =
        " rows between %d preceding and %d following%s"
            .formatted(before, after, excludes ? " exclude current row" : "");
    String rows =
        "m.n between w.n - %d and w.n + %d%s"
            .formatted(before, after, excludes ? " and m.n <> w.n" : "");
    if (dice.oneIn(4)) {
      frame = " rows between unbounded preceding and " + after + " following";
      rows = "m.n <= w.n + " + after;
    }
    int number = dice.between(1, 3);
    return switch (dice.below(3)) {
      case 0 -> new Choice("first_value(w.v)", frame, rows, "", 0);
      case 1 -> new Choice("last_value(w.v)", frame, rows, " desc", 0);
      default -> new Choice("nth_value(w.v, " + number + ")", frame, rows, "", number - 1);
    };
  }
}
