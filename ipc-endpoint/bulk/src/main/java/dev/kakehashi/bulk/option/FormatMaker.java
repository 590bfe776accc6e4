package dev.kakehashi.bulk.option;

import dev.kakehashi.bulk.format.FileFormat;

/// Makes formats of options. Thread-safe.
public interface FormatMaker {
  /// @param fileName whose ending may say how it is compressed; empty: of a stream
  /// @throws dev.kakehashi.engine.api.error.EngineException for values that cannot be
  FileFormat of(CopyOptions options, String fileName);
}
