package dev.kakehashi.engine.exec.operator;

/// How far a running COPY is. Asked by any thread, at any time until the statement has ended and after it; a number may be of a moment ago.
public interface CopyActivity {
  /// Whether it reads files.
  boolean isLoad();

  /// Bytes of files read or written so far.
  long bytes();

  /// Bytes of all files; 0: not known.
  long totalBytes();

  /// Rows read from files or written to them so far.
  long rows();

  /// Rows of these that a condition has left out.
  long filtered();

  /// Rows of these that could not be loaded.
  long rejected();
}
