package dev.kakehashi.bulk.dump;

import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Writes files, one after the other. Used by one thread at a time.
final class FilesWriter implements DumpTarget.Writer {
  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final FilesTarget target;
  private final @Nullable PartitionKey key;
  private List<String> directories = List.of();
  private @Nullable WrittenFile file;

  /// A copy of a batch that is written in pieces.
  private @Nullable Arena copyArena;

  private MemorySegment copy = MemorySegment.NULL;
  private long reserved;
  private boolean isClosed;

  /// @param key null: there are no partitions
  FilesWriter(FilesTarget target, @Nullable PartitionKey key) {
    this.target = target;
    this.key = key;
  }

  @Override
  public void rows(MemorySegment batch) {
    target.context().checkCanceled();
    PartitionKey partitions = key;
    if (partitions == null) {
      write(batch);
      return;
    }
    partitions.wrap(batch);
    int rows = partitions.rowCount();
    for (int from = 0; from < rows; ) {
      int to = from + 1;
      while (to < rows && partitions.isSame(from, to)) {
        to++;
      }
      List<String> names = partitions.directories(from);
      if (!names.equals(directories)) {
        endFile();
        directories = names;
      }
      write(from == 0 && to == rows ? batch : piece(batch, from, to));
      from = to;
    }
  }

  private void write(MemorySegment batch) {
    WrittenFile into = file;
    if (into == null) {
      into = begin();
    }
    RowsOutput out = into.output();
    out.rows(batch);
    if (target.fileBytes() > 0 && out.estimatedBytes() >= target.fileBytes()) {
      endFile();
    }
  }

  private WrittenFile begin() {
    WrittenFile begun = target.beginFile(directories);
    file = begun;
    return begun;
  }

  /// A file without rows.
  void beginEmpty() {
    WrittenFile ignored = begin();
  }

  /// Rows of a batch, as a batch. Values keep their places, so the heap is copied once for each batch.
  private MemorySegment piece(MemorySegment batch, int from, int to) {
    int bytes = batch.get(I32, RowBatchLayout.BATCH_BYTES_OFFSET);
    int heap = batch.get(I32, RowBatchLayout.HEAP_OFFSET_OFFSET);
    long stride = batch.get(I32, RowBatchLayout.ROW_STRIDE_OFFSET);
    if (copy.byteSize() < bytes) {
      freeCopy();
      target.context().reserveMemory(bytes);
      reserved = bytes;
      Arena arena = Arena.ofShared();
      copyArena = arena;
      copy = arena.allocate(bytes, 8);
    }
    if (from == 0) {
      MemorySegment.copy(batch, heap, copy, heap, bytes - heap);
    }
    MemorySegment.copy(batch, 0, copy, 0, RowBatchLayout.HEADER_BYTES);
    MemorySegment.copy(
        batch,
        RowBatchLayout.HEADER_BYTES + from * stride,
        copy,
        RowBatchLayout.HEADER_BYTES,
        (to - from) * stride);
    copy.set(I32, RowBatchLayout.ROW_COUNT_OFFSET, to - from);
    return copy.asSlice(0, bytes);
  }

  private void freeCopy() {
    Arena arena = copyArena;
    if (arena != null) {
      copyArena = null;
      copy = MemorySegment.NULL;
      arena.close();
      target.context().releaseMemory(reserved);
      reserved = 0;
    }
  }

  private void endFile() {
    WrittenFile written = file;
    if (written == null) {
      return;
    }
    file = null;
    if (written.end()) {
      target.ended(written.file(), written.rows());
    }
  }

  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    try {
      endFile();
    } finally {
      freeCopy();
    }
  }

  /// Frees what a writer has that was not closed; its files are removed with the publication.
  void abandon() {
    isClosed = true;
    freeCopy();
    WrittenFile given = file;
    file = null;
    if (given != null) {
      given.output().close();
    }
  }
}
