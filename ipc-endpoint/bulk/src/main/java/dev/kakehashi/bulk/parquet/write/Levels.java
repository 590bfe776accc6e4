package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;

/// Levels of a column in a row group: which values are there, and where lists begin. Not thread-safe.
final class Levels implements AutoCloseable {
  private static final int FIRST_LEVELS = 1 << 10;
  private static final int MAX_LEVELS = 1 << 28;

  /// Definition level of a value that is there.
  final int max;

  private final boolean lists;
  private final BulkContext context;
  byte[] definitions = {};

  /// 0 begins a row. Empty without lists.
  byte[] repetitions = {};

  int count;

  Levels(int max, boolean lists, BulkContext context) {
    this.max = max;
    this.lists = lists;
    this.context = context;
  }

  boolean hasLists() {
    return lists;
  }

  /// Makes room for so many more.
  void need(int more) {
    if (more <= definitions.length - count) {
      return;
    }
    long wanted = (long) count + more;
    if (wanted > MAX_LEVELS) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "a row group has more than " + MAX_LEVELS + " values");
    }
    int size = (int) Math.max(FIRST_LEVELS, Math.max(wanted, 2L * definitions.length));
    context.reserveMemory((lists ? 2L : 1L) * (size - definitions.length));
    definitions = Arrays.copyOf(definitions, size);
    if (lists) {
      repetitions = Arrays.copyOf(repetitions, size);
    }
  }

  void add(int definition, int repetition) {
    definitions[count] = (byte) definition;
    if (lists) {
      repetitions[count] = (byte) repetition;
    }
    count++;
  }

  void clear() {
    count = 0;
  }

  /// Gives its memory back.
  @Override
  public void close() {
    context.releaseMemory((long) definitions.length + repetitions.length);
    definitions = new byte[0];
    repetitions = new byte[0];
    count = 0;
  }
}
