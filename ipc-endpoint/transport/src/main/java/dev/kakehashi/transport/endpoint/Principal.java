package dev.kakehashi.transport.endpoint;

import dev.kakehashi.transport.TransportConfig;
import java.io.IOException;

/// Shared memory of one OS user. Made at its first attach, kept until the endpoint ends: idle it holds no memory to speak of.
record Principal(int uid, String name, Mailboxes mailboxes, BufferArena arena)
    implements AutoCloseable {
  static Principal create(RuntimeDirectory directory, int uid, TransportConfig config)
      throws IOException {
    Mailboxes mailboxes = Mailboxes.create(directory, uid, config);
    BufferArena arena = BufferArena.create(directory, uid, config.buffers());
    return new Principal(uid, Integer.toString(uid), mailboxes, arena);
  }

  @Override
  public void close() {
    mailboxes.close();
    arena.close();
  }
}
