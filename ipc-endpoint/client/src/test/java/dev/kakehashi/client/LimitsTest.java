package dev.kakehashi.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.messages.AttachedDecoder;
import dev.kakehashi.protocol.messages.AttachedEncoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// The client believes what the endpoint publishes only as far as it fits together: offsets and lengths lead into shared memory, names into
/// directories.
class LimitsTest {
  private static Limits decode(Consumer<AttachedEncoder> change, String queue, String principal) {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[1024]);
    AttachedEncoder attached = new AttachedEncoder();
    attached
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .sessionId(5)
        .incarnation(6)
        .mailboxOffset(1 << 20)
        .mailboxFileBytes(1 << 24)
        .arenaFileBytes(1 << 30)
        .slotsPerMailbox(16)
        .slotBytes(32 << 10)
        .frameOffset(1024)
        .frameAreaBytes(15 << 10)
        .inlineOffset(16 << 10)
        .inlineBytes(16 << 10)
        .channelWindow(16)
        .arenaBlockBytes(64 << 10)
        .maxBatchBytes(256 << 20)
        .maxFrameBytes(64 << 10)
        .maxStatements(1024)
        .queueBlockBytes(4 << 20)
        .spinNanos(200_000)
        .leaseNanos(900_000_000_000L)
        .reservedSlots(16)
        .queueNumber(3);
    change.accept(attached);
    attached.queueName(queue).principal(principal).endpointVersion("1.0.0").authentication("");
    attached.engine("embedded");
    UnsafeBuffer frame =
        new UnsafeBuffer(buffer, 0, Protocol.MESSAGE_HEADER_BYTES + attached.encodedLength());
    return Limits.decode(Frames.wrap(new AttachedDecoder(), frame), frame);
  }

  private static void unchanged(AttachedEncoder attached) {}

  @Test
  void shouldTakeWhatTheEndpointPublishes() {
    // No two fields of one group are alike.
    Limits limits =
        decode(
            attached ->
                attached.reservedSlots(15).channelWindow(14).frameAreaBytes(13).inlineBytes(12),
            "1000-1",
            "1000");
    assertEquals(
        new Limits(
            new Limits.Identity(5, 6, "1000", "1.0.0"),
            new Limits.Mailbox(
                1 << 20, 16, 15, new Limits.Slot(32 << 10, 1024, 13, 16 << 10, 12, 14)),
            new Limits.Queue(3, "1000-1", 4 << 20, 64 << 10),
            1 << 30,
            256 << 20,
            1024,
            200_000,
            900_000_000_000L,
            Capabilities.EMBEDDED),
        limits);
  }

  static Stream<Arguments> inconsistencies() {
    return Stream.of(
        inconsistency("no slots", attached -> attached.slotsPerMailbox(0)),
        inconsistency("slots of no bytes", attached -> attached.slotBytes(0)),
        inconsistency("slots of too many bytes", attached -> attached.slotBytes(1L << 31)),
        inconsistency("no window", attached -> attached.channelWindow(0)),
        inconsistency("more slots reserved than there are", attached -> attached.reservedSlots(17)),
        inconsistency("a frame over the slot's state", attached -> attached.frameOffset(0)),
        inconsistency("a frame behind the slot", attached -> attached.frameAreaBytes(32 << 10)),
        inconsistency("rows behind the slot", attached -> attached.inlineBytes(17 << 10)),
        inconsistency("no requests", attached -> attached.maxFrameBytes(0)));
  }

  private static Arguments inconsistency(String name, Consumer<AttachedEncoder> change) {
    return arguments(name, change);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("inconsistencies")
  void shouldRefuseWhatDoesNotFitTogether(String name, Consumer<AttachedEncoder> change) {
    assertThrows(MalformedFrameException.class, () -> decode(change, "1000-1", "1000"), name);
  }

  @Test
  void shouldRefuseNamesThatLeadElsewhere() {
    for (String queue : new String[] {"", "../other", "a/b"}) {
      assertThrows(
          MalformedFrameException.class, () -> decode(LimitsTest::unchanged, queue, "1000"), queue);
    }
    for (String principal : new String[] {"", "root", "../1", "-1"}) {
      assertThrows(
          MalformedFrameException.class,
          () -> decode(LimitsTest::unchanged, "1000-1", principal),
          principal);
    }
  }
}
