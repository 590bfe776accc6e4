package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/// Figures that an endpoint writes into its control page (`ipc-endpoint/protocol/schema/layouts.xml`) once a second.
///
/// @param heartbeatNanos when it was written; CLOCK_MONOTONIC
/// @param requests whose final frame has not been sent
/// @param blocks of result and inbound buffers
/// @param watchedChannels results whose reader has not read all
public record EndpointUsage(
    long heartbeatNanos,
    int sessions,
    int mailboxes,
    int requests,
    int blocks,
    int watchedChannels,
    int transactions) {
  static EndpointUsage read(Path runtimeDirectory) {
    try {
      ByteBuffer page =
          ByteBuffer.wrap(Files.readAllBytes(runtimeDirectory.resolve("control")))
              .order(ByteOrder.LITTLE_ENDIAN);
      return new EndpointUsage(
          page.getLong(128),
          page.getInt(136),
          page.getInt(140),
          page.getInt(144),
          page.getInt(148),
          page.getInt(156),
          page.getInt(160));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Whether that many sessions are attached, and nothing but their mailboxes is held for them.
  boolean isQuiet(int attached) {
    return sessions == attached
        && mailboxes == attached
        && requests == 0
        && blocks == 0
        && watchedChannels == 0
        && transactions == 0;
  }
}
