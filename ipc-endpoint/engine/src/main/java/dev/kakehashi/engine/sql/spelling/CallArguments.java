package dev.kakehashi.engine.sql.spelling;

/// The arguments of a call that are between its parentheses, and what is open of the one that is being read.
final class CallArguments {
  /// Whether it is a function in FROM.
  final boolean ofTable;

  /// Whether what looks like a call takes no names.
  final boolean ofSyntax;

  /// Parentheses around the argument that is being read.
  private int open;

  private boolean variadic;
  private boolean query;

  CallArguments(boolean ofTable, boolean ofSyntax) {
    this.ofTable = ofTable;
    this.ofSyntax = ofSyntax;
    // The first argument of a function in FROM is in a parenthesis of its own, without which
    // Calcite's parser takes no expression that begins with a name.
    this.open = ofTable ? 1 : 0;
  }

  /// A query begins: what is in the parentheses are no arguments.
  void beginQuery() {
    query = true;
  }

  boolean isQuery() {
    return query;
  }

  /// The argument is in one more parenthesis.
  void wrap(boolean isVariadic) {
    open++;
    variadic |= isVariadic;
  }

  boolean isVariadic() {
    return variadic;
  }

  /// The argument ends.
  ///
  /// @return parentheses to close
  int end() {
    int closed = open;
    open = 0;
    variadic = false;
    return closed;
  }
}
