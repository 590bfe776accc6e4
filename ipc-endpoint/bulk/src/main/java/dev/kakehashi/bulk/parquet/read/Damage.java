package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;

/// Errors for damaged files.
final class Damage {
  private Damage() {}

  static EngineException of(String what) {
    return new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, "Parquet file is damaged: " + what);
  }

  static EngineException shortPage() {
    return of("a page ends before its values");
  }
}
