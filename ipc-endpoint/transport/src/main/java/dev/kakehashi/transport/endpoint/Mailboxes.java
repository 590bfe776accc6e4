package dev.kakehashi.transport.endpoint;

import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.os.MappedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/// Mailboxes of one principal: one file, a mailbox per session.
///
/// A mailbox's memory is reserved when its session begins and given back when it ends, which also clears it for the next one. Thread-safe.
final class Mailboxes implements AutoCloseable {
  private final MappedFile file;
  private final int mailboxBytes;
  private final BitSet used = new BitSet(); // guarded by this

  private Mailboxes(MappedFile file, int mailboxBytes) {
    this.file = file;
    this.mailboxBytes = mailboxBytes;
  }

  static Mailboxes create(RuntimeDirectory directory, int uid, TransportConfig config)
      throws IOException {
    int mailboxBytes = config.mailbox().mailboxBytes();
    MappedFile file =
        MappedFile.create(
            directory.mailboxes().resolve(Integer.toString(uid)),
            (long) mailboxBytes * config.sessions().maxSessions(),
            0600);
    directory.shareWith(uid, file.path());
    return new Mailboxes(file, mailboxBytes);
  }

  /// A cleared mailbox; its number.
  ///
  /// @throws dev.kakehashi.transport.TransportException DISK_FULL when its memory cannot be reserved
  synchronized int allocate() {
    int index = used.nextClearBit(0);
    file.reserve(offset(index), mailboxBytes);
    used.set(index);
    return index;
  }

  synchronized void free(int index) {
    file.punch(offset(index), mailboxBytes);
    used.clear(index);
  }

  long offset(int index) {
    return (long) index * mailboxBytes;
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
