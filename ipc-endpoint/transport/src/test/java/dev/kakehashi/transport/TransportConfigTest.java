package dev.kakehashi.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Limits that do not fit together are refused at the start, by name.
class TransportConfigTest {
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  @Test
  void shouldReserveSomeSlotsAndNoMoreThanThereAre() {
    TransportConfig.Mailbox usual = TransportConfig.defaults(Path.of("run")).mailbox();
    assertEquals(16, usual.reservedSlots());
    assertEquals(usual.slotBytes() * 4096L, usual.mailboxBytes());
    assertEquals(2, new TransportConfig.Mailbox(2, KIB, 15 * KIB, 16 * KIB, 16).reservedSlots());
  }

  @Test
  void shouldGiveAResponseAPartOfItsSession() {
    TransportConfig.Buffers buffers = TransportConfig.Buffers.DEFAULT;
    assertTrue(buffers.responseBytes() < buffers.sessionBytes());
    assertTrue(buffers.responseBytes() >= 16L * buffers.batchBytes(), "a window of batches");
  }

  @Test
  void shouldLetAnotherUserHaveAQuarterOfTheSessionsUnlessToldSo() {
    assertEquals(250, sessions(1000, 0).userLimit());
    assertEquals(1, sessions(2, 0).userLimit(), "one at least");
    assertEquals(7, sessions(1000, 7).userLimit());
  }

  private static TransportConfig.Sessions sessions(int most, int ofUser) {
    return new TransportConfig.Sessions(
        most, ofUser, 1024, Duration.ZERO, Duration.ofMinutes(1), Duration.ofSeconds(1));
  }

  static Stream<Arguments> misfits() {
    return Stream.of(
        misfit("slots", () -> new TransportConfig.Mailbox(0, KIB, 15 * KIB, 16 * KIB, 16)),
        misfit("slots", () -> new TransportConfig.Mailbox(4097, KIB, 15 * KIB, 16 * KIB, 16)),
        misfit("channel window", () -> new TransportConfig.Mailbox(1, KIB, 15 * KIB, 16 * KIB, 1)),
        // The ring of descriptors would reach into the frame.
        misfit("head area", () -> new TransportConfig.Mailbox(1, KIB, 15 * KIB, 16 * KIB, 21)),
        misfit("frame area", () -> new TransportConfig.Mailbox(1, KIB, KIB, 30 * KIB, 16)),
        misfit("inline area", () -> new TransportConfig.Mailbox(1, KIB, 31 * KIB, 0, 16)),
        misfit("mailbox", () -> new TransportConfig.Mailbox(1, KIB, 15 * KIB, 15 * KIB, 16)),
        misfit("block", () -> buffers(KIB, MIB, MIB, 8 * MIB, 8 * MIB)),
        misfit("batch", () -> buffers(64 * KIB, KIB, MIB, 8 * MIB, 8 * MIB)),
        misfit("longest batch", () -> buffers(64 * KIB, MIB, 64 * KIB, 8 * MIB, 8 * MIB)),
        misfit("session's buffers", () -> buffers(64 * KIB, MIB, MIB, 8 * MIB, MIB)),
        misfit("principal's buffers", () -> buffers(64 * KIB, MIB, MIB, 4 * MIB, 8 * MIB)),
        misfit("queue block", () -> new TransportConfig.Queue(3 * MIB, 64 * KIB, 8)),
        misfit("longest frame", () -> new TransportConfig.Queue(256 * KIB, 64 * KIB, 8)),
        misfit("queues", () -> new TransportConfig.Queue(MIB, 64 * KIB, 0)),
        misfit("sessions", () -> sessions(1 << 16, 0)),
        misfit("sessions of an OS user", () -> sessions(1000, -1)));
  }

  private static TransportConfig.Buffers buffers(
      int block, int batch, int longest, long principal, long session) {
    return new TransportConfig.Buffers(block, batch, longest, principal, session, 0);
  }

  private static Arguments misfit(String name, Executable limits) {
    return arguments(name, limits);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("misfits")
  void shouldRefuseByNameWhatDoesNotFit(String name, Executable limits) {
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, limits);
    assertTrue(
        String.valueOf(refused.getMessage()).startsWith(name + " cannot be "),
        refused.getMessage());
  }
}
