package dev.kakehashi.applications.link;

/// First byte of a message.
public final class LinkKind {
  // ---- endpoint to process, on the first lane ----

  /// The application's definition and jars; replies: [#CONTENTS], [#FAILED].
  public static final byte START = 1;

  /// As START, of jars whose contents alone are wanted.
  public static final byte INSPECT = 2;

  /// A lane of the endpoint is to have a thread.
  public static final byte LANE = 3;

  /// The call of a lane is canceled.
  public static final byte CANCEL = 4;

  /// Asks for counts of calls and disabled functions.
  public static final byte COUNTS = 5;

  /// The process is to end.
  public static final byte STOP = 6;

  // ---- endpoint to process, on lanes of calls ----

  public static final byte CALL = 10;
  public static final byte SCALAR = 11;
  public static final byte LONGS = 12;
  public static final byte DOUBLES = 13;
  public static final byte TABLE_OPEN = 14;
  public static final byte TABLE_NEXT = 15;
  public static final byte AGGREGATE = 16;
  public static final byte MERGE = 17;
  public static final byte END_USE = 18;

  // ---- replies of both ----

  public static final byte DONE = 30;
  public static final byte FAILED = 31;
  public static final byte CONTENTS = 32;

  /// Rows of a call: the other side answers [#DONE] or, if it wants no more, [#ENOUGH].
  public static final byte ROWS = 33;

  public static final byte ENOUGH = 34;

  // ---- process to endpoint, on the second lane ----

  /// The process wants a lane of its own; the reply is DONE when it can be used.
  public static final byte OPEN = 40;

  /// Work in the transaction of a lane is canceled.
  public static final byte CANCEL_ACCESS = 41;

  public static final byte LOGGED = 42;
  public static final byte FAILURE = 43;

  // ---- process to endpoint, on lanes of calls and its own ----

  public static final byte BEGIN = 50;
  public static final byte JOIN = 51;
  public static final byte LEAVE = 52;
  public static final byte COMMIT = 53;
  public static final byte ROLLBACK = 54;
  public static final byte RECEIVE = 55;
  public static final byte EXTEND = 56;
  public static final byte RELEASE = 57;
  public static final byte TABLE = 60;
  public static final byte EXECUTE = 61;
  public static final byte SAVEPOINT = 62;
  public static final byte RELEASE_SAVEPOINT = 63;
  public static final byte ROLLBACK_TO_SAVEPOINT = 64;
  public static final byte ENQUEUE = 65;
  public static final byte COMPLETE = 66;
  public static final byte FAIL = 67;
  public static final byte SELECT = 70;
  public static final byte FIND = 71;
  public static final byte RANGE = 72;
  public static final byte ALL = 73;
  public static final byte NEXT = 74;
  public static final byte CLOSE_ROWS = 75;
  public static final byte INSERT = 76;
  public static final byte UPDATE = 77;
  public static final byte DELETE = 78;

  private LinkKind() {}
}
