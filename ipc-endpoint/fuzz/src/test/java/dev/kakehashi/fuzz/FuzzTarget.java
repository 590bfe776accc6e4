package dev.kakehashi.fuzz;

import java.io.IOException;

/// A reader of bytes that somebody else has written. One thread.
public interface FuzzTarget extends AutoCloseable {
  /// Reads an input to its end. It may refuse the input by an error that its readers declare; everything else that it throws is a finding.
  void run(byte[] input) throws Exception;

  @Override
  default void close() throws IOException {}
}
