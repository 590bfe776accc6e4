package dev.kakehashi.transport.endpoint;

import static dev.kakehashi.protocol.layout.DoorbellPageLayout.BELL_OFFSET;
import static dev.kakehashi.protocol.layout.DoorbellPageLayout.PAGE_BYTES;
import static dev.kakehashi.protocol.layout.DoorbellPageLayout.RELEASED_OFFSET;
import static dev.kakehashi.protocol.layout.DoorbellPageLayout.SLEEPING_OFFSET;

import dev.kakehashi.transport.os.Futex;
import dev.kakehashi.transport.os.MappedFile;
import dev.kakehashi.transport.os.SharedMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Bell that the poller sleeps on.
///
/// A thread that has work for the poller publishes it, executes a full fence and looks at `sleeping`. The poller stores `sleeping`,
/// executes a full fence and looks for work once more (Dekker's pattern). One of both sees the other, so a sleeping poller leaves no work
/// behind, and nobody makes a system call while it is awake. `bell` is read before the last look for work: a ring in between changes it,
/// and the wait returns at once.
final class Doorbell implements AutoCloseable {
  private final MappedFile file;
  private final MemorySegment page;

  private Doorbell(MappedFile file) {
    this.file = file;
    this.page = file.memory();
  }

  static Doorbell create(RuntimeDirectory directory) throws IOException {
    MappedFile file = MappedFile.create(directory.path().resolve("doorbell"), PAGE_BYTES, 0600);
    file.reserve(0, PAGE_BYTES);
    directory.share(file.path(), false);
    return new Doorbell(file);
  }

  /// How often it was rung: to be read before the look for work that a wait follows.
  int bell() {
    return SharedMemory.getIntAcquire(page, BELL_OFFSET);
  }

  /// From now on who publishes work rings. To be followed by a last look for work.
  void announceSleep() {
    SharedMemory.putIntRelease(page, SLEEPING_OFFSET, 1);
    SharedMemory.fullFence();
  }

  /// The poller looks for work by itself again.
  void awake() {
    SharedMemory.putIntRelease(page, SLEEPING_OFFSET, 0);
    SharedMemory.fullFence();
  }

  /// Sleeps until the bell is not `bell` any more, at most `timeoutNanos`.
  void await(int bell, long timeoutNanos) {
    Futex.await(page, BELL_OFFSET, bell, timeoutNanos);
  }

  /// Wakes the poller if it sleeps. Call after the work has been published.
  void ring() {
    SharedMemory.fullFence();
    if (SharedMemory.getIntAcquire(page, SLEEPING_OFFSET) != 0) {
      wake();
    }
  }

  /// Wakes one thread that sleeps, or keeps one that is about to from it.
  void wake() {
    SharedMemory.incrementInt(page, BELL_OFFSET);
    Futex.wake(page, BELL_OFFSET);
  }

  /// Wakes every thread that sleeps.
  void wakeAll() {
    SharedMemory.incrementInt(page, BELL_OFFSET);
    Futex.wakeAll(page, BELL_OFFSET);
  }

  /// Whether a reader has released a batch that a producer waits for, since the last call.
  boolean takeReleased() {
    return SharedMemory.getIntAcquire(page, RELEASED_OFFSET) != 0
        && SharedMemory.exchangeInt(page, RELEASED_OFFSET, 0) != 0;
  }

  /// Like [#takeReleased()], but leaves the flag.
  boolean hasReleased() {
    return SharedMemory.getIntVolatile(page, RELEASED_OFFSET) != 0;
  }

  @Override
  public void close() {
    file.close();
  }
}
