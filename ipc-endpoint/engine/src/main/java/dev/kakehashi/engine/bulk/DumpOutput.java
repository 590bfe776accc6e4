package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import dev.kakehashi.engine.exec.operator.CopyActivity;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Takes the rows of a dump's plan as batches, and gives them to the writers of its files.
///
/// Where there may be several files, a task encodes the batches that it has filled by a writer of its own. Where there is one file, batches
/// stand in a queue. A task that finds no other one at work writes some of them, and the others fill further ones meanwhile. When the queue
/// is full they wait, as for a slow reader.
///
/// Thread-safe while the plan runs. Then [#drain()], [#writers()] and [#close()] are called by one thread at a time.
final class DumpOutput implements ResultSink, CopyActivity, AutoCloseable {
  private static final int MOST_CHUNK_BYTES = 256 << 10;
  private static final int LEAST_CHUNK_BYTES = 16 << 10;

  /// Chunks of the usual size that fit into the statement's memory, at least: the rest is for the files.
  private static final int CHUNKS_OF_LIMIT = 32;

  /// Batches that wait to be written before the tasks that fill them wait, too.
  private static final int QUEUED = 6;

  /// Batches that one task writes before it looks after its own: it is to give way soon after a look at the scheduler.
  private static final int MOST_AT_ONCE = 4;

  /// Bytes for a client that has not taken them before rows wait.
  private static final long MOST_PENDING_BYTES = 1 << 20;

  private static final int LONGEST_BATCH_BYTES = 1 << 30;

  private final DumpTarget target;
  private final BulkContext context;
  private final @Nullable DumpStream stream;
  private final boolean parallel;
  private final int chunkBytes;
  private final AtomicLong rows = new AtomicLong();

  // All below are guarded by this.
  private final Deque<Chunk> free = new ArrayDeque<>();
  private final Deque<Chunk> queue = new ArrayDeque<>();
  private final List<DumpTarget.Writer> writers = new ArrayList<>();
  private final Deque<DumpTarget.Writer> idle = new ArrayDeque<>();
  private final List<Runnable> waiting = new ArrayList<>();

  /// Whether somebody writes batches of the queue.
  private boolean draining;

  /// Whether what is written has to wait for the client.
  private boolean blocked;

  /// @param parallel whether each task may have a writer of its own
  /// @param stream takes the bytes that the target writes; null: they go to files
  /// @param memoryBytes that the statement may have
  DumpOutput(
      DumpTarget target,
      BulkContext context,
      boolean parallel,
      @Nullable DumpStream stream,
      long memoryBytes) {
    this.target = target;
    this.context = context;
    this.parallel = parallel;
    this.stream = stream;
    this.chunkBytes =
        Math.clamp(memoryBytes / CHUNKS_OF_LIMIT & ~7L, LEAST_CHUNK_BYTES, MOST_CHUNK_BYTES);
  }

  /// Memory of one batch.
  private final class Chunk implements Buffer {
    private final VarHeap heap = new VarHeap();
    private final MemorySegment memory;
    private MemorySegment batch = MemorySegment.NULL;

    Chunk(int bytes) {
      this.memory = VarHeap.MEMORY.asSlice(heap.allocate(bytes), bytes);
    }

    @Override
    public MemorySegment memory() {
      return memory;
    }

    @Override
    public void stage(int batchBytes, int rowCount) {
      batch = memory.asSlice(0, batchBytes);
      if (parallel) {
        writeAlone(this);
        return;
      }
      synchronized (DumpOutput.this) {
        queue.add(this);
      }
      drain();
    }

    @Override
    public void discard() {
      recycle(this);
    }
  }

  @Override
  public @Nullable Buffer acquire(int minBytes) {
    if (!parallel && isFull()) {
      drain();
      if (isFull()) {
        return null;
      }
    }
    int bytes = Math.max(minBytes + 7 & ~7, chunkBytes);
    if (bytes == chunkBytes) {
      synchronized (this) {
        Chunk present = free.poll();
        if (present != null) {
          return present;
        }
      }
    }
    context.reserveMemory(bytes);
    return new Chunk(bytes);
  }

  private synchronized boolean isFull() {
    return queue.size() >= QUEUED || (stream != null && stream.pendingBytes() > MOST_PENDING_BYTES);
  }

  private void recycle(Chunk chunk) {
    if (chunk.memory.byteSize() == chunkBytes) {
      synchronized (this) {
        free.push(chunk);
      }
    } else {
      free(chunk);
    }
  }

  private void free(Chunk chunk) {
    context.releaseMemory(chunk.memory.byteSize());
    chunk.heap.close();
  }

  private void writeAlone(Chunk chunk) {
    DumpTarget.Writer writer;
    synchronized (this) {
      writer = idle.poll();
      if (writer == null) {
        writer = newWriter();
      }
    }
    try {
      write(writer, chunk.batch);
    } finally {
      synchronized (this) {
        idle.push(writer);
      }
      recycle(chunk);
    }
  }

  private synchronized DumpTarget.Writer newWriter() {
    DumpTarget.Writer writer = target.writer(writers.size());
    writers.add(writer);
    return writer;
  }

  /// Writes some of the batches that wait, unless somebody else does.
  ///
  /// @return whether none is left for the caller
  boolean drain() {
    synchronized (this) {
      if (draining) {
        return true;
      }
      draining = true;
      blocked = false;
    }
    boolean stopped = true;
    try {
      int left = MOST_AT_ONCE;
      while (left-- > 0) {
        if (stream != null && !stream.flush()) {
          synchronized (this) {
            blocked = true;
          }
          return false;
        }
        Chunk next;
        DumpTarget.Writer writer;
        synchronized (this) {
          next = queue.poll();
          if (next == null) {
            stopped = false;
            draining = false;
            return true;
          }
          writer = writers.isEmpty() ? newWriter() : writers.getFirst();
        }
        try {
          write(writer, next.batch);
        } finally {
          recycle(next);
        }
      }
      return false;
    } finally {
      wakeAll(stopped);
    }
  }

  /// @param stopped whether the caller has written until now
  private void wakeAll(boolean stopped) {
    List<Runnable> wake;
    synchronized (this) {
      if (stopped) {
        draining = false;
      }
      wake = List.copyOf(waiting);
      waiting.clear();
    }
    wake.forEach(Runnable::run);
  }

  @Override
  public void whenWritable(Runnable wake) {
    DumpStream client;
    synchronized (this) {
      if (draining) {
        waiting.add(wake);
        return;
      }
      client = blocked ? stream : null;
    }
    if (client == null) {
      wake.run();
    } else {
      client.whenWritable(wake);
    }
  }

  @Override
  public int maxBatchBytes() {
    return LONGEST_BATCH_BYTES;
  }

  /// After the plan's end: the writers, at least one, to be closed, so that the files get what they have kept. A thread may close each.
  synchronized List<DumpTarget.Writer> writers() {
    if (writers.isEmpty()) {
      newWriter(); // a file without rows is a file
    }
    return List.copyOf(writers);
  }

  /// Frees the memory; the target stays its owner's.
  @Override
  public synchronized void close() {
    free.forEach(this::free);
    queue.forEach(this::free);
    free.clear();
    queue.clear();
  }

  private void write(DumpTarget.Writer writer, MemorySegment batch) {
    writer.rows(batch);
    rows.addAndGet(batch.get(ValueLayout.JAVA_INT_UNALIGNED, RowBatchLayout.ROW_COUNT_OFFSET));
  }

  @Override
  public boolean isLoad() {
    return false;
  }

  /// Files know their lengths when they are whole.
  @Override
  public long bytes() {
    return 0;
  }

  @Override
  public long totalBytes() {
    return 0;
  }

  @Override
  public long rows() {
    return rows.get();
  }

  @Override
  public long filtered() {
    return 0;
  }

  @Override
  public long rejected() {
    return 0;
  }
}
