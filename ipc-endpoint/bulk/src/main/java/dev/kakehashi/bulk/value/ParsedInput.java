package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.csv.text.Eight;
import dev.kakehashi.bulk.csv.text.TextBatch;
import dev.kakehashi.bulk.csv.text.TextColumn;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// Texts as values of another type, read as in a CSV file.
final class ParsedInput extends EachInput {
  private final boolean onHeap;
  private final TextColumn text;
  private final TextBatch value;
  private final RowBatchReader reader = new RowBatchReader();
  private byte[] scratch = new byte[64];

  ParsedInput(LoadColumn column, BulkContext context) {
    super(column.name());
    this.onHeap = RowBatchReader.fixedBytes(column.typeOid()) >= 0;
    this.text = TextColumn.of(column, context);
    this.value = TextBatch.single(context);
  }

  @Override
  long word(FileValues values, int index, BatchFill batch) {
    int start = values.starts()[index];
    int length = values.lengths()[index];
    if (scratch.length < length + Eight.PADDING) {
      scratch = new byte[Math.max(length + Eight.PADDING, 2 * scratch.length)];
    }
    System.arraycopy(values.bytes(), start, scratch, 0, length);
    Arrays.fill(scratch, length, length + Eight.PADDING, (byte) 0);
    value.reset();
    value.addRow();
    text.set(scratch, 0, length, value, 0);
    MemorySegment row = value.finish();
    long word = reader.wrap(row).getWord(0, 0);
    if (!onHeap) {
      return word;
    }
    int taken = (int) (row.byteSize() - word);
    int at = batch.heap(taken);
    MemorySegment.copy(row, ValueLayout.JAVA_BYTE, word, batch.bytes(), at, taken);
    return at;
  }

  @Override
  public void close() {
    text.close();
    value.close();
  }
}
