package dev.kakehashi.engine.embedded.identity;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.query.QueryReducer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// Asks both queries of an identity and compares their rows. Used by one thread.
final class IdentityCheck {
  private static final int MAX_TRIALS = 400;
  private static final int MAX_LENGTH = 600;

  private final Function<String, List<String>> answers;
  private int undecided;
  private int empty;

  /// @param answers rows of a query
  IdentityCheck(Function<String, List<String>> answers) {
    this.answers = answers;
  }

  /// Identities with a query that the engine does not answer.
  int undecided() {
    return undecided;
  }

  /// Identities without a row on either side.
  int empty() {
    return empty;
  }

  /// The fault that an identity shows, with a smaller predicate; empty if there is none.
  String fault(Identity identity) {
    String left = rows(identity, identity.left());
    String right = rows(identity, identity.right());
    if (isUndecided(left) || isUndecided(right)) {
      undecided++;
      return "";
    }
    if (left.equals(right) && !isError(left)) {
      empty += left.equals("[]") ? 1 : 0;
      return "";
    }
    String kind = kind(left, right);
    String reduced =
        new QueryReducer(text -> kind.equals(kind(identity.with(text))), MAX_TRIALS)
            .reduce(identity.predicate());
    Identity smaller =
        kind.equals(kind(identity.with(reduced))) ? identity.with(reduced) : identity;
    return smaller
        + "\n  left:  "
        + shorten(rows(smaller, smaller.left()))
        + "\n  right: "
        + shorten(rows(smaller, smaller.right()));
  }

  private String kind(Identity identity) {
    return kind(rows(identity, identity.left()), rows(identity, identity.right()));
  }

  private static String kind(String left, String right) {
    if (isError(left) || isError(right)) {
      return "error of " + start(left) + " and " + start(right);
    }
    return left.equals(right) ? "none" : "rows";
  }

  private static String start(String rows) {
    return isError(rows) ? rows : "rows";
  }

  private static boolean isError(String rows) {
    return rows.startsWith("error ");
  }

  /// Whether a query is refused because of what it asks for: a feature, or more than a limit allows.
  private static boolean isUndecided(String rows) {
    return rows.startsWith("error 0A") || rows.startsWith("error 54");
  }

  private String rows(Identity identity, List<String> queries) {
    List<String> rows = new ArrayList<>();
    for (String query : queries) {
      try {
        rows.addAll(answers.apply(identity.text(query)));
      } catch (EngineException refused) {
        return "error " + refused.code().sqlstate() + " " + refused.getMessage();
      } catch (RuntimeException | AssertionError broken) {
        return "error broken " + broken + " at " + List.of(broken.getStackTrace()).subList(0, 3);
      }
    }
    rows.sort(null);
    return rows.toString();
  }

  private static String shorten(String text) {
    return text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) + "..." : text;
  }
}
