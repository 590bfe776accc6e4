package dev.kakehashi.transport.endpoint;

import static dev.kakehashi.protocol.layout.ControlPageLayout.ARENA_BLOCKS_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.CROWDED_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.HEARTBEAT_NANOS_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.INCARNATION_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.LAYOUT_VERSION_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.MAGIC_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.MAILBOXES_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.PAGE_BYTES;
import static dev.kakehashi.protocol.layout.ControlPageLayout.PROCESS_ID_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.PROTOCOL_VERSION_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.QUEUES_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.REQUESTS_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.SESSIONS_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.STATE_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.TRANSACTIONS_OFFSET;
import static dev.kakehashi.protocol.layout.ControlPageLayout.WATCHED_CHANNELS_OFFSET;

import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.transport.os.MappedFile;
import dev.kakehashi.transport.os.SharedMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Facts of this incarnation for clients, who map it read-only.
///
/// The facts are written once, before `state` becomes ready (release). Thread-safe.
final class ControlPage implements AutoCloseable {
  private final MappedFile file;
  private final MemorySegment page;

  private ControlPage(MappedFile file) {
    this.file = file;
    this.page = file.memory();
  }

  static ControlPage create(RuntimeDirectory directory, long incarnation) throws IOException {
    MappedFile file = MappedFile.create(directory.path().resolve("control"), PAGE_BYTES, 0600);
    file.reserve(0, PAGE_BYTES);
    directory.share(file.path(), true);
    ControlPage control = new ControlPage(file);
    SharedMemory.putIntPlain(control.page, LAYOUT_VERSION_OFFSET, Protocol.LAYOUT_VERSION);
    SharedMemory.putIntPlain(control.page, PROTOCOL_VERSION_OFFSET, Protocol.PROTOCOL_VERSION);
    SharedMemory.putLongPlain(control.page, INCARNATION_OFFSET, incarnation);
    SharedMemory.putIntPlain(control.page, PROCESS_ID_OFFSET, (int) ProcessHandle.current().pid());
    SharedMemory.putLongRelease(control.page, MAGIC_OFFSET, Protocol.CONTROL_MAGIC);
    control.heartbeat(System.nanoTime());
    return control;
  }

  void state(int state) {
    SharedMemory.putIntRelease(page, STATE_OFFSET, state);
  }

  /// @param nowNanos CLOCK_MONOTONIC, which is what System.nanoTime reads on Linux
  void heartbeat(long nowNanos) {
    SharedMemory.putLongRelease(page, HEARTBEAT_NANOS_OFFSET, nowNanos);
  }

  void sessions(int count) {
    SharedMemory.putIntRelease(page, SESSIONS_OFFSET, count);
  }

  /// Publishes the resources in use, for display.
  void usage(TransportEndpoint.ResourceUsage usage, int transactions) {
    SharedMemory.putIntRelease(page, MAILBOXES_OFFSET, usage.mailboxes());
    SharedMemory.putIntRelease(page, REQUESTS_OFFSET, usage.requests());
    SharedMemory.putIntRelease(page, ARENA_BLOCKS_OFFSET, usage.blocks());
    SharedMemory.putIntRelease(page, QUEUES_OFFSET, usage.queues());
    SharedMemory.putIntRelease(page, WATCHED_CHANNELS_OFFSET, usage.watchedChannels());
    SharedMemory.putIntRelease(page, TRANSACTIONS_OFFSET, transactions);
  }

  /// Whether who waits for an answer sleeps at once. A hint, in a line of its own, because those who wait read it.
  void crowded(boolean crowded) {
    SharedMemory.putIntRelease(page, CROWDED_OFFSET, crowded ? 1 : 0);
  }

  @Override
  public void close() {
    file.close();
  }
}
