package dev.kakehashi.engine.sql.spelling;

import java.util.Set;

/// Which clauses the query at one level of parentheses has had so far.
final class QueryClauses {
  static final Set<String> SET_OPERATIONS = Set.of("union", "intersect", "except");

  private static final Set<String> AFTER_FROM =
      Set.of(
          "where", "group", "having", "window", "order", "union", "intersect", "except", "select");

  /// Clauses that Calcite's parser takes behind FROM alone.
  private static final Set<String> NEED_FROM = Set.of("where", "group", "having");

  private int selectList = -1;
  private boolean distinct;
  private boolean setOperation;
  private boolean window;
  private boolean from;
  private boolean join;
  private boolean withoutFrom;

  /// A keyword comes.
  ///
  /// @param isFrom whether it is the FROM of a query
  void enter(String word, boolean isFrom) {
    from = isFrom || (from && !AFTER_FROM.contains(word));
    setOperation |= SET_OPERATIONS.contains(word);
    join |= word.equals("join");
    window |= word.equals("window");
    withoutFrom = word.equals("select") || (withoutFrom && !isFrom);
  }

  /// Whether a clause that needs a FROM comes to a SELECT without one; it has one from then on.
  boolean lacksFrom(String word) {
    boolean lacks = withoutFrom && NEED_FROM.contains(word);
    withoutFrom &= !lacks;
    return lacks;
  }

  /// A select list begins.
  ///
  /// @param at where in the translated text
  void beginSelectList(int at, boolean ofDistinct) {
    selectList = at;
    distinct = ofDistinct;
    window = false;
  }

  /// DISTINCT ON comes.
  void beginDistinctOn() {
    distinct = true;
  }

  /// A FROM clause goes on in a parenthesis of its own.
  void continueFrom() {
    from = true;
  }

  /// Where in the translated text the select list of the last SELECT begins; -1: there is none.
  int selectList() {
    return selectList;
  }

  boolean hasSelect() {
    return selectList >= 0;
  }

  boolean isDistinct() {
    return distinct;
  }

  boolean isSetOperation() {
    return setOperation;
  }

  /// Whether the WINDOW clause has begun.
  boolean inWindowClause() {
    return window;
  }

  /// Whether FROM has begun, and nothing that follows it.
  boolean inFrom() {
    return from;
  }

  /// Whether there is a join so far.
  boolean hasJoin() {
    return join;
  }
}
