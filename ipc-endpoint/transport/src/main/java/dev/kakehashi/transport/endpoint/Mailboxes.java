package dev.kakehashi.transport.endpoint;

import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.os.MappedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/// Mailboxes of one principal: one file, a mailbox per session.
///
/// The memory of a mailbox's first slots is reserved when its session begins, that of the others when they are used. The reserved memory is
/// given back when the session ends, which also clears it for the next one. Thread-safe.
final class Mailboxes implements AutoCloseable {
  private final MappedFile file;
  private final long mailboxBytes;
  private final TransportConfig.Mailbox config;
  private final BitSet used = new BitSet(); // guarded by this

  private Mailboxes(MappedFile file, TransportConfig.Mailbox config) {
    this.file = file;
    this.mailboxBytes = config.mailboxBytes();
    this.config = config;
  }

  static Mailboxes create(RuntimeDirectory directory, int uid, TransportConfig config)
      throws IOException {
    long mailboxBytes = config.mailbox().mailboxBytes();
    MappedFile file =
        MappedFile.create(
            directory.mailboxes().resolve(Integer.toString(uid)),
            mailboxBytes * config.sessions().maxSessions(),
            0600);
    directory.shareWith(uid, file.path());
    return new Mailboxes(file, config.mailbox());
  }

  /// A cleared mailbox; its number.
  ///
  /// @throws dev.kakehashi.transport.TransportException DISK_FULL when its memory cannot be reserved
  synchronized int allocate() {
    int index = used.nextClearBit(0);
    file.reserve(offset(index), (long) config.reservedSlots() * config.slotBytes());
    used.set(index);
    return index;
  }

  synchronized void free(int index) {
    file.punch(offset(index), mailboxBytes);
    used.clear(index);
  }

  /// Sees to it that a slot can be written: its client has reserved it, but need not have.
  ///
  /// @throws dev.kakehashi.transport.TransportException DISK_FULL
  void reserveSlot(int index, int slot) {
    file.reserve(offset(index) + (long) slot * config.slotBytes(), config.slotBytes());
  }

  long offset(int index) {
    return index * mailboxBytes;
  }

  MemorySegment memory(int index) {
    return file.memory().asSlice(offset(index), mailboxBytes);
  }

  long fileBytes() {
    return file.memory().byteSize();
  }

  synchronized int usedCount() {
    return used.cardinality();
  }

  @Override
  public void close() {
    file.close();
  }
}
