package dev.kakehashi.bulk.load;

import dev.kakehashi.bulk.format.RowOrigin;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A part of a file as a part of the load. Used by one thread at a time.
final class FilesPart implements LoadPart {
  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final FilesSource source;
  private final FilesSource.OpenRows file;
  private final long number;
  private final RowsPart part;
  private final PartRejects rejects;
  private final String fileName;
  private long skippedRows;
  private long reportedRows;
  private long reportedBytes;

  /// Rows of the batch that were left out at its beginning.
  private int batchShift;

  /// Lines of rows that were rejected while the last batch was read: `rejectedCount` of them.
  private long[] rejectedLines = new long[8];

  private int rejectedCount;

  /// Where [#rewind()] goes back to: rows before it, rows that had been read, and what had been rejected.
  private long markedRows;

  private long markedRead;
  private PartRejects.Mark mark = PartRejects.Mark.BEGIN;

  /// Rejected rows of what had been read before the mark are known.
  private boolean isKnown;

  private boolean isClosed;

  FilesPart(FilesSource source, FilesSource.OpenRows file, long number, RowsPart part) {
    this.source = source;
    this.file = file;
    this.number = number;
    this.part = part;
    this.rejects = source.rejected().part();
    this.fileName = file.name();
  }

  @Override
  public long number() {
    return number;
  }

  @Override
  public void skip(long rows) {
    skippedRows = rows;
  }

  @Override
  public void mark(long rows) {
    markedRows = rows;
    markedRead = part.rows();
    mark = rejects.mark();
  }

  @Override
  public void rewind() {
    source.rejected().takeBack(rejects, mark);
    skippedRows = markedRows;
    part.rewind();
  }

  @Override
  public @Nullable MemorySegment next() {
    while (true) {
      source.context().checkCanceled();
      rejects.endBatch();
      long before = part.rows();
      rejectedCount = 0;
      batchShift = 0;
      isKnown = before < markedRead;
      MemorySegment batch = read();
      report();
      if (batch == null) {
        return null;
      }
      if (before >= skippedRows) {
        return batch;
      }
      batchShift = rowsToLeaveOut(batch, before);
      int rows = batch.get(I32, RowBatchLayout.ROW_COUNT_OFFSET);
      if (batchShift == 0) {
        return batch;
      }
      if (batchShift < rows) {
        leaveOut(batch, rows);
        return batch;
      }
    }
  }

  private @Nullable MemorySegment read() {
    try {
      return part.next(this::rejectRead);
    } catch (EngineException e) {
      throw FileErrors.named(e, fileName);
    }
  }

  private void rejectRead(RowOrigin origin, EngineException failure) {
    if (!isKnown) {
      source.rejected().add(rejects, origin, failure, fileName);
    }
    if (rejectedCount == rejectedLines.length) {
      rejectedLines = Arrays.copyOf(rejectedLines, 2 * rejectedCount);
    }
    rejectedLines[rejectedCount++] = origin.line();
  }

  /// Rows at the beginning of a batch that come before the end of what is skipped. Rejected rows count, which are between them by their
  /// lines.
  ///
  /// @param before rows read before the batch
  private int rowsToLeaveOut(MemorySegment batch, long before) {
    int rows = batch.get(I32, RowBatchLayout.ROW_COUNT_OFFSET);
    if (part.rows() <= skippedRows) {
      return rows;
    }
    int rejectedBefore = 0;
    for (int row = 0; row < rows; row++) {
      if (rejectedCount > 0) {
        long line = part.origin(row).line();
        while (rejectedBefore < rejectedCount && rejectedLines[rejectedBefore] < line) {
          rejectedBefore++;
        }
      }
      if (before + row + rejectedBefore >= skippedRows) {
        return row;
      }
    }
    return rows;
  }

  /// Moves the rows that stay to the beginning; values keep their places.
  private void leaveOut(MemorySegment batch, int rows) {
    long stride = batch.get(I32, RowBatchLayout.ROW_STRIDE_OFFSET);
    int left = rows - batchShift;
    MemorySegment.copy(
        batch,
        RowBatchLayout.HEADER_BYTES + batchShift * stride,
        batch,
        RowBatchLayout.HEADER_BYTES,
        left * stride);
    batch.set(I32, RowBatchLayout.ROW_COUNT_OFFSET, left);
  }

  private void report() {
    // Once, however often they are read.
    long newRows = Math.max(0, part.rows() - reportedRows);
    long newBytes = Math.max(0, part.readBytes() - reportedBytes);
    source.read(file, newRows, newBytes);
    reportedRows += newRows;
    reportedBytes += newBytes;
  }

  @Override
  public long rows() {
    return part.rows();
  }

  @Override
  public long leftOut() {
    return part.leftOut();
  }

  @Override
  public boolean hasDefaults() {
    return part.hasDefaults();
  }

  @Override
  public boolean isDefault(int row, int column) {
    return part.isDefault(row + batchShift, column);
  }

  @Override
  public void reject(int row, EngineException failure) {
    source.rejected().add(rejects, part.origin(row + batchShift), failure, fileName);
  }

  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    try {
      rejects.endBatch();
      part.close();
    } finally {
      source.ended(file, number, part.rows(), rejects);
    }
  }
}
