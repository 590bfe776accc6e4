package dev.kakehashi.engine.sql.spelling;

import org.jspecify.annotations.Nullable;

/// State of a translator in an open parenthesis, or in the whole statement.
final class NestingLevel {
  /// Purpose of a parenthesis or bracket.
  enum Purpose {
    /// Operands, a subquery, arguments of a call; the statement.
    GROUP,
    CAST,
    /// A window's definition.
    WINDOW,
    DISTINCT_ON,
    /// A table or a join in FROM.
    TABLE,
    /// A subquery that is in a call for itself.
    QUERY_CALL,
    /// An array's constructor.
    ARRAY
  }

  final Purpose purpose;

  /// The query that is in it, if there is one.
  final QueryClauses query = new QueryClauses();

  /// The arguments that are in it; null: it is no call's parenthesis.
  @Nullable CallArguments call;

  /// Whether ORDER BY has begun.
  boolean ordered;

  /// Where in `text` begins what is in it.
  int inside;

  /// Where in `text` the last call that is in it ends, before FILTER and what else follows its arguments; -1: there is none.
  int callEnd = -1;

  /// The subscript between brackets; null: it is no such bracket.
  @Nullable Subscript subscript;

  /// Where in `text` the operand begins that the parenthesis belongs to.
  int start;

  Chain chain;

  NestingLevel(Purpose purpose, int start) {
    this.purpose = purpose;
    this.start = start;
    this.chain = new Chain(start);
  }

  NestingLevel(int start) {
    this(Purpose.GROUP, start);
  }

  boolean is(Purpose other) {
    return purpose == other;
  }

  /// Whether arguments of a call are in it, and so far no query.
  boolean hasArguments() {
    return call != null && !call.isQuery();
  }

  /// Text between the brackets of a subscript.
  static final class Subscript {
    /// Where in `text` it begins.
    final int start;

    /// Where in `text` the upper bound of a slice begins; -1: no slice.
    int upper = -1;

    Subscript(int start) {
      this.start = start;
    }
  }

  /// Operands with operators that bind more than comparisons.
  static final class Chain {
    /// Where in `text` it begins.
    final int start;

    /// Whether it is a `||` b, so far.
    boolean concatenation;

    Chain(int start) {
      this.start = start;
    }
  }
}
