package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.ArrayList;
import java.util.List;

/// Rows distributed over files by the hash of their keys, so that equal keys lie in one file. Confined to one task at a time.
public final class Spill implements AutoCloseable {
  /// Files; a level deeper the next bits of the hash decide.
  public static final int PARTITIONS = 16;

  /// Deepest level: what is still too large there cannot be divided by the bits that are left.
  public static final int DEEPEST = 5;

  private static final int BITS = 4;

  private final MemoryAccount memory;
  private final int level;
  private final int bufferBytes;
  private final List<SpillFile> files = new ArrayList<>(PARTITIONS);
  private boolean finished;

  /// @param level how often these rows have been distributed before
  public Spill(MemoryAccount memory, ColumnKind[] kinds, int level) {
    this.memory = memory;
    this.level = level;
    this.bufferBytes = memory.bufferBytes();
    memory.add(buffers());
    try {
      for (int i = 0; i < PARTITIONS; i++) {
        files.add(memory.newFile(kinds, bufferBytes));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  public int level() {
    return level;
  }

  private int partition(long hash) {
    // The hash of one integer column is not spread; a table takes its low bits.
    long mixed = (hash ^ (hash >>> 32)) * 0x9E3779B97F4A7C15L;
    return (int) (mixed >>> (Long.SIZE - BITS * (level + 1))) & (PARTITIONS - 1);
  }

  public void append(long hash, ColumnVector[] columns, int row) {
    files.get(partition(hash)).append(columns, row);
  }

  /// No more rows follow.
  public void finish() {
    for (SpillFile file : files) {
      file.finish();
    }
    memory.add(-buffers());
    finished = true;
  }

  private long buffers() {
    return finished ? 0 : (long) PARTITIONS * bufferBytes;
  }

  public SpillFile file(int partition) {
    return files.get(partition);
  }

  @Override
  public void close() {
    memory.add(-buffers());
    finished = true;
    files.forEach(SpillFile::close);
    files.clear();
  }
}
