package dev.kakehashi.engine.api;

/// How a transaction begins.
///
/// @param kind short optimistic, long with declared writes, or read-only
/// @param isolation READ_COMMITTED takes a snapshot when a statement asks for one, the others keep the first, which is not older than the
///     begin nor younger than the first statement; a long transaction reads as of its epoch under READ_COMMITTED, too
/// @param label for displays and messages; may be empty
/// @param priority of a long transaction: of those that conflict, greater ones go first
/// @param timeoutNanos the transaction is rolled back with TRANSACTION_TIMEOUT after this time; 0: never
/// @param areas tables that a long transaction declares
/// @param deferrable whether a read-only SERIALIZABLE transaction waits, before its first statement, for a snapshot with which it makes no
///     other fail; others do not care
public record BeginOptions(
    Kind kind,
    Isolation isolation,
    String label,
    int priority,
    long timeoutNanos,
    Areas areas,
    boolean deferrable) {
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

  /// Tables by name: lists as SQL writes them, separated by commas; empty: nothing said.
  ///
  /// @param writePreserve it may write these alone, and others do not write them meanwhile
  /// @param readInclude it may read these alone, and those that it may write
  /// @param readExclude it does not read these
  public record Areas(String writePreserve, String readInclude, String readExclude) {
    public static final Areas NONE = new Areas("", "", "");
  }

  /// Short, optimistic, READ COMMITTED.
  public static final BeginOptions DEFAULT =
      new BeginOptions(Kind.OCC, Isolation.READ_COMMITTED, "");

  /// Without priority, time-out and areas.
  public BeginOptions(Kind kind, Isolation isolation, String label) {
    this(kind, isolation, label, 0, 0, Areas.NONE);
  }

  /// Not deferrable.
  public BeginOptions(
      Kind kind, Isolation isolation, String label, int priority, long timeoutNanos, Areas areas) {
    this(kind, isolation, label, priority, timeoutNanos, areas, false);
  }
}
