package dev.kakehashi.engine.exec.operator;

/// How far a running statement has read the tables that it reads from their beginning to their end. Asked by any thread, at any time until
/// the statement has ended and after it; a number may be of a moment ago. Tables that are read once for each row of others are not part of
/// it.
public interface ScanActivity {
  /// Pages of all these tables; more than 0.
  long pages();

  /// Pages of them that were taken to be read, at most [#pages()].
  long pagesRead();
}
