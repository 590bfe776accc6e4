package dev.kakehashi.client;

import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.messages.AttachedDecoder;
import org.agrona.DirectBuffer;

/// What the endpoint published at attach.
///
/// @param spinNanos longest spin of a waiting client before it sleeps
/// @param leaseNanos default lease of a transaction
/// @param reservedSlots slots whose memory is there; that of others is reserved before they are used
/// @param queueNumber of the queue; no other one has it
/// @param engine what the engine can do
public record Limits(
    long sessionId,
    long incarnation,
    long mailboxOffset,
    long arenaFileBytes,
    int slots,
    int slotBytes,
    int frameOffset,
    int frameAreaBytes,
    int inlineOffset,
    int inlineBytes,
    int channelWindow,
    int maxBatchBytes,
    int maxFrameBytes,
    int maxStatements,
    int queueBlockBytes,
    long spinNanos,
    long leaseNanos,
    int reservedSlots,
    long queueNumber,
    String queueName,
    String principal,
    String endpointVersion,
    Capabilities engine) {

  /// The fields, and the texts up to the authentication; the engine is the embedded one still, see [#with].
  static Limits decode(AttachedDecoder attached, DirectBuffer frame) {
    Limits limits =
        new Limits(
            attached.sessionId(),
            attached.incarnation(),
            attached.mailboxOffset(),
            attached.arenaFileBytes(),
            (int) attached.slotsPerMailbox(),
            (int) attached.slotBytes(),
            (int) attached.frameOffset(),
            (int) attached.frameAreaBytes(),
            (int) attached.inlineOffset(),
            (int) attached.inlineBytes(),
            (int) attached.channelWindow(),
            (int) attached.maxBatchBytes(),
            (int) attached.maxFrameBytes(),
            (int) attached.maxStatements(),
            (int) attached.queueBlockBytes(),
            attached.spinNanos(),
            attached.leaseNanos(),
            (int) attached.reservedSlots(),
            attached.queueNumber(),
            Frames.nextText(attached, frame),
            Frames.nextText(attached, frame),
            Frames.nextText(attached, frame),
            Capabilities.EMBEDDED);
    boolean sane =
        limits.slots > 0
            && limits.slotBytes > 0
            && limits.channelWindow > 0
            && limits.reservedSlots >= 0
            && limits.reservedSlots <= limits.slots
            && limits.frameOffset > 0
            && limits.frameAreaBytes > 0
            && limits.frameAreaBytes <= limits.slotBytes - limits.frameOffset
            && limits.inlineBytes <= limits.slotBytes - limits.inlineOffset
            && limits.maxFrameBytes > 0
            && limits.queueName.matches("[A-Za-z0-9._-]+")
            && limits.principal.matches("[0-9]+");
    if (!sane) {
      throw new MalformedFrameException("endpoint published inconsistent limits: " + limits);
    }
    return limits;
  }

  Limits with(Capabilities other) {
    return new Limits(
        sessionId,
        incarnation,
        mailboxOffset,
        arenaFileBytes,
        slots,
        slotBytes,
        frameOffset,
        frameAreaBytes,
        inlineOffset,
        inlineBytes,
        channelWindow,
        maxBatchBytes,
        maxFrameBytes,
        maxStatements,
        queueBlockBytes,
        spinNanos,
        leaseNanos,
        reservedSlots,
        queueNumber,
        queueName,
        principal,
        endpointVersion,
        other);
  }
}
