package dev.kakehashi.protocol;

import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.messages.AttachedDecoder;
import dev.kakehashi.protocol.messages.AttachedEncoder;
import org.agrona.DirectBuffer;

/// Facts of the engine in `Attached`. Stateless.
public final class EngineFacts {
  /// Writes the fields of the block; the name comes last, by [AttachedEncoder#engine].
  public static void encode(AttachedEncoder attached, Capabilities capabilities) {
    attached
        .capabilities(capabilities.hasBits())
        .computations(capabilities.computesBits())
        .storedTypes(capabilities.keepsBits())
        .longestRowBytes(capabilities.longestRowBytes())
        .mostTransactionBytes(capabilities.mostTransactionBytes());
  }

  /// Reads them, when the texts before the name have been read. An endpoint of before version 8 has the embedded engine.
  ///
  /// @throws MalformedFrameException if the name is none, or a limit is negative
  public static Capabilities decode(AttachedDecoder attached, DirectBuffer frame) {
    if (attached.actingVersion() < AttachedDecoder.capabilitiesSinceVersion()) {
      return Capabilities.EMBEDDED;
    }
    String engine = Frames.nextText(attached, frame);
    try {
      return Capabilities.ofBits(
          engine,
          attached.capabilities(),
          attached.computations(),
          attached.storedTypes(),
          attached.longestRowBytes(),
          attached.mostTransactionBytes());
    } catch (IllegalArgumentException e) {
      throw new MalformedFrameException("Attached: " + e.getMessage());
    }
  }

  private EngineFacts() {}
}
