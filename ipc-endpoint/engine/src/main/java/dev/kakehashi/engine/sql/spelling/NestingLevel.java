package dev.kakehashi.engine.sql.spelling;

import org.jspecify.annotations.Nullable;

/// What a translator knows of an open parenthesis, or of the whole statement.
final class NestingLevel {
  boolean cast;
  boolean selectWithoutFrom;

  /// Where in `text` the select list of the last SELECT begins; -1 if there is none.
  int selectList = -1;

  boolean distinct;

  boolean setOperation;

  /// Whether it is the parenthesis of a window definition, and whether that has had its ORDER BY.
  boolean window;

  boolean ordered;

  /// Whether the WINDOW clause of the SELECT has begun.
  boolean windowClause;

  /// Whether the parenthesis holds the arguments of a function, so far without a query.
  boolean arguments;

  /// Whether the first argument of a function in FROM is in a parenthesis of its own, without which Calcite's parser takes no expression that begins with a name.
  boolean wrapsArgument;

  /// Whether the argument is VARIADIC.
  boolean variadic;

  /// Whether the argument has a name.
  boolean named;

  /// Whether the parenthesis belongs to what looks like a call of a function, but takes no names.
  boolean syntax;

  /// Whether the parenthesis holds a subquery that is in a call for itself.
  boolean subquery;

  /// Whether it holds the arguments of a function in FROM.
  boolean function;

  /// Whether FROM has begun, and nothing that follows it.
  boolean fromClause;

  /// Whether it is a parenthesis of a FROM clause around a table or a join, and whether there is a join so far.
  boolean table;

  boolean join;

  /// Where in `text` begins what is in the parenthesis.
  int inside;

  /// Whether it is the bracket of an array's constructor.
  boolean array;

  /// The subscript between brackets; null: it is no such bracket.
  @Nullable Subscript subscript;

  /// Whether it is the list of DISTINCT ON.
  boolean distinctOn;

  /// Where in `text` the operand begins that the parenthesis belongs to.
  int start;

  Chain chain;

  NestingLevel(int start) {
    this.start = start;
    this.chain = new Chain(start);
  }

  /// What is between the brackets of a subscript.
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
