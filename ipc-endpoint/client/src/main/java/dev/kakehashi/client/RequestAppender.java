package dev.kakehashi.client;

import static dev.kakehashi.protocol.layout.DoorbellPageLayout.BELL_OFFSET;
import static dev.kakehashi.protocol.layout.DoorbellPageLayout.PAGE_BYTES;
import static dev.kakehashi.protocol.layout.DoorbellPageLayout.RELEASED_OFFSET;
import static dev.kakehashi.protocol.layout.DoorbellPageLayout.SLEEPING_OFFSET;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.transport.os.Futex;
import dev.kakehashi.transport.os.MappedFile;
import dev.kakehashi.transport.os.SharedMemory;
import dev.kakehashi.transport.os.SparseFile;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import net.openhft.chronicle.core.Jvm;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.LegacyRollCycles;
import net.openhft.chronicle.wire.DocumentContext;
import net.openhft.chronicle.wire.Wires;
import org.jspecify.annotations.Nullable;

/// Appends requests to the session's queue and rings the endpoint. One thread at a time.
final class RequestAppender implements AutoCloseable {
  /// Memory reserved ahead of the tail: a full file system shows here as an error, not later as a fault.
  private static final long RESERVE_BYTES = 256 << 10;

  private final ChronicleQueue queue;
  private final ExcerptAppender appender;
  private final MappedFile doorbell;
  private final int maxFrameBytes;
  private boolean damaged;
  private @Nullable File reservedFile;
  private long reservedEnd;

  /// Initialises classes of the library.
  static void load() {
    Jvm.init();
    Wires.init();
    SingleChronicleQueueBuilder.addAliases();
  }

  RequestAppender(Path runtimeDirectory, Limits limits) {
    this.maxFrameBytes = limits.queue().maxFrameBytes();
    this.doorbell = MappedFile.open(runtimeDirectory.resolve("doorbell"), 0, PAGE_BYTES);
    this.queue =
        SingleChronicleQueueBuilder.single(
                runtimeDirectory.resolve("queues").resolve(limits.queue().name()).toFile())
            .rollCycle(LegacyRollCycles.MINUTELY)
            .blockSize(limits.queue().blockBytes())
            .build();
    this.appender = queue.createAppender();
    this.appender.singleThreadedCheckDisabled(true);
  }

  /// @throws EndpointException 54000 when the request is too long, 53100 when there is no space for it
  void append(byte[] frame, int length) {
    if (length > maxFrameBytes) {
      throw EndpointException.of(
          ErrorCode.LIMIT_EXCEEDED,
          "request of " + length + " bytes exceeds the longest request of " + maxFrameBytes);
    }
    long end;
    try (DocumentContext document = appender.writingDocument()) {
      var bytes = java.util.Objects.requireNonNull(document.wire()).bytes();
      bytes.write(frame, 0, length);
      end = bytes.writePosition();
    } catch (InternalError e) {
      throw EndpointException.of(
          ErrorCode.DISK_FULL, "could not append request: no space left on shared memory", e);
    } catch (RuntimeException e) {
      damaged = true;
      throw EndpointException.of(
          ErrorCode.CONNECTION_FAILURE,
          "could not append to the request queue, the session ends: " + e.getMessage(),
          e);
    }
    ring();
    reserve(end);
  }

  /// Whether nothing can be appended any more.
  boolean isDamaged() {
    return damaged;
  }

  private void reserve(long end) {
    File file = appender.currentFile();
    if (file == null || (file.equals(reservedFile) && end + 2L * maxFrameBytes < reservedEnd)) {
      return;
    }
    try (SparseFile sparse = SparseFile.open(file.toPath())) {
      if (!sparse.reserve(end, RESERVE_BYTES)) {
        throw EndpointException.of(
            ErrorCode.DISK_FULL, "no space left on shared memory for further requests");
      }
      reservedFile = file;
      reservedEnd = end + RESERVE_BYTES;
    } catch (IOException e) {
      // The endpoint has deleted the file meanwhile: the next request makes another.
      reservedFile = null;
    }
  }

  /// Wakes the endpoint if it sleeps. The fence orders the append before the look at `sleeping`; see Doorbell on the other side.
  private void ring() {
    SharedMemory.fullFence();
    if (SharedMemory.getIntAcquire(doorbell.memory(), SLEEPING_OFFSET) != 0) {
      SharedMemory.incrementInt(doorbell.memory(), BELL_OFFSET);
      Futex.wake(doorbell.memory(), BELL_OFFSET);
    }
  }

  /// Tells the endpoint that a batch somebody waits for has been released.
  void ringReleased() {
    SharedMemory.putIntRelease(doorbell.memory(), RELEASED_OFFSET, 1);
    ring();
  }

  @Override
  public void close() {
    appender.close();
    queue.close();
    doorbell.close();
  }
}
