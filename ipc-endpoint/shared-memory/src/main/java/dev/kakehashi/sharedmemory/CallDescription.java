package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import java.util.List;

/// The batch that describes the columns of a call: name, type, modifier and shape of each; of none one row without a name.
final class CallDescription {
  private static final int COLUMNS = 4;

  private CallDescription() {}

  /// @param response which nobody else writes to yet
  /// @throws EngineException DISK_FULL, OUT_OF_SLOTS: there is no room for it
  static void write(List<Statement.Column> columns, int shape, ResultSink response) {
    int rows = Math.max(1, columns.size());
    RowBatchWriter writer = RowBatchWriter.growable(COLUMNS, rows, response.maxBatchBytes());
    for (int i = 0; i < rows; i++) {
      boolean fits = writer.addRow();
      if (columns.isEmpty()) {
        writer.setNull(0);
        writer.setNull(1);
        writer.setNull(2);
      } else {
        Statement.Column column = columns.get(i);
        fits = fits && writer.setString(0, column.name());
        writer.setLong(1, column.typeOid());
        writer.setLong(2, column.typeModifier());
      }
      writer.setLong(3, shape);
      if (!fits) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, columns.size() + " columns exceed the longest batch");
      }
    }
    int bytes = writer.finish();
    ResultSink.Buffer buffer = response.acquire(bytes);
    if (buffer == null) {
      throw new EngineException(
          ErrorCode.OUT_OF_SLOTS, "there is no room for the description of a result");
    }
    buffer.memory().asSlice(0, bytes).copyFrom(writer.batch().asSlice(0, bytes));
    buffer.stage(bytes, rows);
  }
}
