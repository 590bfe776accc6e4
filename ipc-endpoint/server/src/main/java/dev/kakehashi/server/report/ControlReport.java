package dev.kakehashi.server.report;

import dev.kakehashi.protocol.layout.ControlPageLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/// A control page in words.
public final class ControlReport {
  /// @param who lines about the sessions, each after a line feed
  public static String read(Path runtimeDirectory, long pid, String who) throws IOException {
    Path file = runtimeDirectory.resolve("control");
    if (Files.notExists(file)) {
      return "endpoint is starting: process " + pid;
    }
    ByteBuffer page = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    String state =
        switch (page.getInt(ControlPageLayout.STATE_OFFSET)) {
          case ControlPageLayout.STATE_STARTING -> "starting";
          case ControlPageLayout.STATE_READY -> "ready";
          case ControlPageLayout.STATE_STOPPING -> "stopping";
          case ControlPageLayout.STATE_STOPPED -> "stopped";
          default -> "unknown";
        };
    long heartbeat = page.getLong(ControlPageLayout.HEARTBEAT_NANOS_OFFSET);
    return """
    endpoint is %s: process %d
    runtime directory: %s
    incarnation: %s
    sessions: %d%s
    open transactions: %d
    running requests: %d
    mailboxes in use: %d
    result buffers in use: %d blocks
    request queues: %d
    results waiting for readers: %d
    last heartbeat: %.1f s ago\
    """
        .formatted(
            state,
            pid,
            runtimeDirectory,
            Long.toUnsignedString(page.getLong(ControlPageLayout.INCARNATION_OFFSET)),
            page.getInt(ControlPageLayout.SESSIONS_OFFSET),
            who,
            page.getInt(ControlPageLayout.TRANSACTIONS_OFFSET),
            page.getInt(ControlPageLayout.REQUESTS_OFFSET),
            page.getInt(ControlPageLayout.MAILBOXES_OFFSET),
            page.getInt(ControlPageLayout.ARENA_BLOCKS_OFFSET),
            page.getInt(ControlPageLayout.QUEUES_OFFSET),
            page.getInt(ControlPageLayout.WATCHED_CHANNELS_OFFSET),
            (System.nanoTime() - heartbeat) / 1e9);
  }

  private ControlReport() {}
}
