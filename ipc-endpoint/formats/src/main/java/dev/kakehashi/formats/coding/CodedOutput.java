package dev.kakehashi.formats.coding;

import java.io.OutputStream;

/// A stream that compresses into another, see [Coding#encode]. Not thread-safe.
public abstract class CodedOutput extends OutputStream {
  /// Frees what the stream holds without writing anything more. The other stream stays as it is, for its owner to break off. Does nothing
  /// after the end.
  public abstract void abort();
}
