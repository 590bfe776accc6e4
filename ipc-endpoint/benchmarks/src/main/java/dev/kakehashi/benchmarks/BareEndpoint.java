package dev.kakehashi.benchmarks;

import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.PingDecoder;
import dev.kakehashi.protocol.messages.PongEncoder;
import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.endpoint.Authenticator;
import dev.kakehashi.transport.endpoint.EndpointSession;
import dev.kakehashi.transport.endpoint.RequestHandler;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import dev.kakehashi.transport.endpoint.TransportEndpoint;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// The transport without applications and engine: answers pings with the time of their arrival, so that a client on the same
/// host (one CLOCK_MONOTONIC) can tell the way there from the way back. `BareEndpoint RUNTIME_DIRECTORY`, until SIGTERM.
public final class BareEndpoint {
  private BareEndpoint() {}

  public static void main(String[] arguments) throws InterruptedException {
    TransportConfig config = TransportConfig.defaults(Path.of(arguments[0]));
    TransportEndpoint endpoint =
        TransportEndpoint.start(
            config,
            self -> new PingHandler(),
            (uid, osUser, user, authentication) ->
                new Authenticator.Accepted(new Authenticator.Identity(osUser, true), ""),
            () -> Capabilities.EMBEDDED);
    CountDownLatch closed = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  endpoint.close();
                  closed.countDown();
                },
                "bare-shutdown"));
    closed.await();
  }

  private static final class PingHandler implements RequestHandler {
    private final PingDecoder ping = new PingDecoder();
    private final PongEncoder pong = new PongEncoder();
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final byte[] payload = new byte[4096];
    private final java.nio.ByteBuffer stamp =
        java.nio.ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN);

    @Override
    public void request(
        EndpointSession session,
        long requestId,
        @Nullable ResponseChannel channel,
        int templateId,
        DirectBuffer frame) {
      long arrivedNanos = System.nanoTime();
      if (templateId != PingDecoder.TEMPLATE_ID || channel == null) {
        throw new MalformedFrameException("only pings are answered here");
      }
      Frames.wrap(ping, frame);
      int length = Math.min(Frames.nextLength(ping, frame), payload.length);
      ping.getPayload(payload, 0, length);
      stamp.putLong(0, arrivedNanos);
      channel.finish(buffer ->
          Protocol.MESSAGE_HEADER_BYTES
              + pong.wrapAndApplyHeader(buffer, 0, header)
                  .requestId(requestId)
                  .putPayload(payload, 0, Math.max(length, Long.BYTES))
                  .encodedLength());
    }

    @Override
    public void sessionClosed(EndpointSession session) {}

    @Override
    public long tick(long nowNanos) {
      return Long.MAX_VALUE;
    }
  }
}
