package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.messages.AcquireBuffersDecoder;
import dev.kakehashi.protocol.messages.ReleaseBuffersDecoder;
import dev.kakehashi.protocol.messages.SetApplicationNameDecoder;
import dev.kakehashi.protocol.messages.SetRoleDecoder;
import dev.kakehashi.transport.TransportConfig;
import java.util.Map;
import org.agrona.DirectBuffer;

/// Requests about the session itself: its inbound buffers, how it calls itself, for whom it works. Poller only.
final class ClientFrames {
  private final int maxBatchBytes;

  ClientFrames(TransportConfig config) {
    this.maxBatchBytes = config.buffers().maxBatchBytes();
  }

  /// By template.
  Map<Integer, FrameHandler> handlers() {
    return Map.of(
        AcquireBuffersDecoder.TEMPLATE_ID, this::acquireBuffers,
        ReleaseBuffersDecoder.TEMPLATE_ID, ClientFrames::releaseBuffers,
        SetApplicationNameDecoder.TEMPLATE_ID, ClientFrames::setApplicationName,
        SetRoleDecoder.TEMPLATE_ID, ClientFrames::setRole);
  }

  private void acquireBuffers(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    response.required();
    AcquireBuffersDecoder acquire = Frames.wrap(new AcquireBuffersDecoder(), frame);
    int count = acquire.count();
    long bufferBytes = acquire.bufferBytes();
    if (count == 0 || bufferBytes == 0 || bufferBytes > maxBatchBytes) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "cannot grant "
              + count
              + " buffers of "
              + bufferBytes
              + " bytes, the longest has "
              + maxBatchBytes);
    }
    long[] offsets = session.endpointSession().grantInbound(count, (int) bufferBytes);
    if (offsets == null) {
      throw new EngineException(
              ErrorCode.OUT_OF_MEMORY,
              "could not grant " + count + " buffers of " + bufferBytes + " bytes")
          .withHint("Use fewer or shorter buffers, or raise \"session_buffers\" of the endpoint.");
    }
    response.granted((int) bufferBytes, offsets);
  }

  private static void releaseBuffers(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    session.endpointSession().releaseInbound();
    response.completed(null, 0);
  }

  private static void setApplicationName(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    SetApplicationNameDecoder name = Frames.wrap(new SetApplicationNameDecoder(), frame);
    session.endpointSession().applicationName(Frames.nextText(name, frame));
    response.completed(null, 0);
  }

  private static void setRole(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    SetRoleDecoder role = Frames.wrap(new SetRoleDecoder(), frame);
    boolean monitors = role.monitors() == 1;
    session
        .requests()
        .viewer(
            Viewers.withRole(session.endpointSession(), Frames.nextText(role, frame), monitors));
    response.completed(null, 0);
  }
}
