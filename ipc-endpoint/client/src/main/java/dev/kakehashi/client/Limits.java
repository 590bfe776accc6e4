package dev.kakehashi.client;

import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.messages.AttachedDecoder;
import org.agrona.DirectBuffer;

/// Values that the endpoint publishes at attach.
///
/// @param arenaFileBytes of the arena of the principal
/// @param maxBatchBytes of a batch of rows, or of parameters
/// @param maxStatements prepared at a time
/// @param spinNanos longest spin of a waiting client before it sleeps
/// @param leaseNanos default lease of a transaction
/// @param engine what the engine can do
public record Limits(
    Identity identity,
    Mailbox mailbox,
    Queue queue,
    long arenaFileBytes,
    int maxBatchBytes,
    int maxStatements,
    long spinNanos,
    long leaseNanos,
    Capabilities engine) {

  /// Identity of a session and of its endpoint.
  ///
  /// @param incarnation of the endpoint
  /// @param principal number of the OS user, which names files of the runtime directory
  public record Identity(
      long sessionId, long incarnation, String principal, String endpointVersion) {}

  /// Where answers come.
  ///
  /// @param offset of the first slot in the file of the principal, in bytes
  /// @param slots answers that may be open at a time
  /// @param reservedSlots slots whose memory is there; that of others is reserved before they are used
  public record Mailbox(long offset, int slots, int reservedSlots, Slot slot) {}

  /// Layout of a slot of the mailbox. Offsets are from its begin, in bytes.
  ///
  /// @param window batches that may be on their way
  public record Slot(
      int bytes, int frameOffset, int frameBytes, int inlineOffset, int inlineBytes, int window) {}

  /// Where requests go.
  ///
  /// @param number of the queue; no other one has it
  /// @param maxFrameBytes of a request
  public record Queue(long number, String name, int blockBytes, int maxFrameBytes) {}

  /// The fields, and the texts up to the authentication; the engine is the embedded one still, see [#with].
  static Limits decode(AttachedDecoder attached, DirectBuffer frame) {
    // In the order of the frame.
    String queueName = Frames.nextText(attached, frame);
    String principal = Frames.nextText(attached, frame);
    String endpointVersion = Frames.nextText(attached, frame);
    Slot slot =
        new Slot(
            (int) attached.slotBytes(),
            (int) attached.frameOffset(),
            (int) attached.frameAreaBytes(),
            (int) attached.inlineOffset(),
            (int) attached.inlineBytes(),
            (int) attached.channelWindow());
    Limits limits =
        new Limits(
            new Identity(attached.sessionId(), attached.incarnation(), principal, endpointVersion),
            new Mailbox(
                attached.mailboxOffset(),
                (int) attached.slotsPerMailbox(),
                (int) attached.reservedSlots(),
                slot),
            new Queue(
                attached.queueNumber(),
                queueName,
                (int) attached.queueBlockBytes(),
                (int) attached.maxFrameBytes()),
            attached.arenaFileBytes(),
            (int) attached.maxBatchBytes(),
            (int) attached.maxStatements(),
            attached.spinNanos(),
            attached.leaseNanos(),
            Capabilities.EMBEDDED);
    if (!limits.isSane()) {
      throw new MalformedFrameException("endpoint published inconsistent limits: " + limits);
    }
    return limits;
  }

  private boolean isSane() {
    Slot slot = mailbox.slot;
    return mailbox.slots > 0
        && slot.bytes > 0
        && slot.window > 0
        && mailbox.reservedSlots >= 0
        && mailbox.reservedSlots <= mailbox.slots
        && slot.frameOffset > 0
        && slot.frameBytes > 0
        && slot.frameBytes <= slot.bytes - slot.frameOffset
        && slot.inlineBytes <= slot.bytes - slot.inlineOffset
        && queue.maxFrameBytes > 0
        && queue.name.matches("[A-Za-z0-9._-]+")
        && identity.principal.matches("[0-9]+");
  }

  Limits with(Capabilities other) {
    return new Limits(
        identity,
        mailbox,
        queue,
        arenaFileBytes,
        maxBatchBytes,
        maxStatements,
        spinNanos,
        leaseNanos,
        other);
  }
}
