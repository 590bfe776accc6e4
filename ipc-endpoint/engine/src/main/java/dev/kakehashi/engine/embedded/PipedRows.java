package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.application.JavaValues;
import dev.kakehashi.protocol.RowBatchReader;
import org.jspecify.annotations.Nullable;

/// Rows of a statement of a call, as objects, read as they come. Used by the call's thread.
final class PipedRows implements DirectTable.Rows {
  private final CallAccess access;
  private final RowPipe pipe;
  private final int[] oids;
  private final boolean[] byReference;
  private final RowBatchReader reader = new RowBatchReader();
  private RowPipe.@Nullable Batch batch;
  private int row;

  /// @param oids types of the columns
  PipedRows(CallAccess access, RowPipe pipe, int[] oids) {
    this.access = access;
    this.pipe = pipe;
    this.oids = oids;
    this.byReference = new boolean[oids.length];
    for (int i = 0; i < oids.length; i++) {
      byReference[i] = Types.kind(oids[i]).byReference();
    }
  }

  @Override
  public @Nullable Object @Nullable [] next() {
    while (true) {
      RowPipe.Batch read = batch;
      if (read != null && row < reader.rowCount()) {
        return values(read.memory().address(), row++);
      }
      release();
      try {
        read = pipe.next();
      } catch (InterruptedException interrupted) {
        throw access.interrupted();
      }
      if (read == null) {
        return null;
      }
      batch = read;
      reader.wrap(read.rows());
      row = 0;
    }
  }

  private @Nullable Object[] values(long base, int at) {
    @Nullable Object[] values = new @Nullable Object[oids.length];
    for (int i = 0; i < oids.length; i++) {
      if (!reader.isNull(at, i)) {
        long word = reader.getWord(at, i);
        values[i] = JavaValues.toObject(oids[i], byReference[i] ? base + word : word);
      }
    }
    return values;
  }

  private void release() {
    RowPipe.Batch read = batch;
    if (read != null) {
      batch = null;
      pipe.release(read);
    }
  }

  @Override
  public void close() {
    release();
    pipe.close();
  }
}
