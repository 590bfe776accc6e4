package dev.kakehashi.engine.api;

/// How a transaction begins.
///
/// @param kind short optimistic, long with declared writes, or read-only
/// @param isolation READ_COMMITTED takes a snapshot when a statement asks for one, the others keep the first
/// @param label for displays; may be empty
public record TransactionOptions(Kind kind, Isolation isolation, String label) {
  /// Kinds of transactions.
  public enum Kind {
    OCC,
    LTX,
    RTX
  }

  /// Isolation levels, with PostgreSQL's meaning.
  public enum Isolation {
    READ_COMMITTED,
    REPEATABLE_READ,
    SERIALIZABLE
  }

  /// Short, optimistic, READ COMMITTED.
  public static final TransactionOptions DEFAULT =
      new TransactionOptions(Kind.OCC, Isolation.READ_COMMITTED, "");
}
