package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.AttachEncoder;
import dev.kakehashi.protocol.messages.AttachedDecoder;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.protocol.messages.FailedDecoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.Credentials;
import dev.kakehashi.transport.os.RequiredPeer;
import java.io.EOFException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/// The socket that attaches a session and then stands for the life of both sides.
final class AttachSocket implements AutoCloseable {
  /// Number of the last queue that could not be appended to, by runtime directory: the endpoint is told, and gives the next session another. A number that the endpoint does not know (any more) does no
  /// harm. Threads that end or begin sessions.
  private static final Map<Path, Long> DAMAGED_QUEUES = new ConcurrentHashMap<>();

  private final Path asked;
  private final Path directory;
  private final SocketChannel channel;
  private final Limits limits;
  private final ByteBuffer probe = ByteBuffer.allocate(1);
  private boolean ended;

  private AttachSocket(Path asked, Path directory, SocketChannel channel, Limits limits) {
    this.asked = asked;
    this.directory = directory;
    this.channel = channel;
    this.limits = limits;
  }

  /// @throws EndpointException 08001 when nobody listens, 28000 when it is not who has to; what the endpoint says when it refuses
  static AttachSocket attach(AttachOptions options) {
    Path path = options.runtimeDirectory().resolve("endpoint.sock");
    SocketChannel channel = null;
    boolean done = false;
    try {
      RequiredPeer peer =
          RequiredPeer.of(options.requirePeer(), "the option \"requirePeer\" of the session");
      Path directory = peer.trusted(options.runtimeDirectory());
      path = directory.resolve("endpoint.sock");
      channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
      peer.check(channel, path);
      UnsafeBuffer request = new UnsafeBuffer(new byte[Protocol.MAX_SOCKET_FRAME_BYTES]);
      int length = encode(request, options);
      ByteBuffer output = ByteBuffer.allocate(4 + length).order(ByteOrder.LITTLE_ENDIAN);
      output.putInt(length).put(request.byteArray(), 0, length).flip();
      while (output.hasRemaining()) {
        channel.write(output);
      }
      channel.configureBlocking(false);
      AttachSocket socket =
          new AttachSocket(
              options.runtimeDirectory(), directory, channel, answer(channel, options));
      done = true;
      return socket;
    } catch (TransportException e) {
      throw new EndpointException(e.failure(), e);
    } catch (IOException | MalformedFrameException e) {
      throw EndpointException.of(
          ErrorCode.CANNOT_CONNECT,
          "could not attach to endpoint at \"" + path + "\": " + e.getMessage(),
          e);
    } finally {
      if (!done && channel != null) {
        closeQuietly(channel);
      }
    }
  }

  /// Ends the session, because nothing can be appended to its queue.
  void queueDamaged() {
    DAMAGED_QUEUES.put(asked, limits.queueNumber());
    close();
  }

  private static int encode(UnsafeBuffer buffer, AttachOptions options) throws IOException {
    AttachEncoder encoder = new AttachEncoder();
    encoder
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .layoutVersion(Protocol.LAYOUT_VERSION)
        .processId(ProcessHandle.current().pid())
        .processStartTicks(startTicks())
        .pidNamespace(Credentials.pidNamespace())
        .clientKind(ClientKind.JAVA_CLIENT)
        .damagedQueue(DAMAGED_QUEUES.getOrDefault(options.runtimeDirectory(), 0L))
        .applicationName(options.applicationName())
        .userName(options.userName())
        .password(options.password())
        .clientVersion("java 1.0.0");
    return Protocol.MESSAGE_HEADER_BYTES + encoder.encodedLength();
  }

  /// Field 22 of /proc/self/stat; the name in field 2 may contain anything but ends with the last parenthesis.
  private static long startTicks() throws IOException {
    String stat = Files.readString(Path.of("/proc/self/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return Long.parseLong(fields[22 - 3]);
  }

  private static Limits answer(SocketChannel channel, AttachOptions options) throws IOException {
    try (Selector selector = Selector.open()) {
      channel.register(selector, SelectionKey.OP_READ);
      long deadline = System.nanoTime() + options.timeout().toNanos();
      ByteBuffer length = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
      read(channel, selector, length, deadline);
      int bytes = length.getInt(0);
      if (bytes < Protocol.MESSAGE_HEADER_BYTES || bytes > Protocol.MAX_SOCKET_FRAME_BYTES) {
        throw new MalformedFrameException("answer of " + bytes + " bytes");
      }
      ByteBuffer body = ByteBuffer.allocate(bytes);
      read(channel, selector, body, deadline);
      UnsafeBuffer frame = new UnsafeBuffer(body.array());
      return switch (Frames.templateId(frame)) {
        case AttachedDecoder.TEMPLATE_ID ->
            Limits.decode(Frames.wrap(new AttachedDecoder(), frame), frame);
        case FailedDecoder.TEMPLATE_ID ->
            throw new EndpointException(
                Failure.decode(Frames.wrap(new FailedDecoder(), frame), frame), null);
        default -> throw new MalformedFrameException("answer is neither Attached nor Failed");
      };
    }
  }

  private static void read(
      SocketChannel channel, Selector selector, ByteBuffer buffer, long deadline)
      throws IOException {
    while (buffer.hasRemaining()) {
      int count = channel.read(buffer);
      if (count < 0) {
        throw new EOFException("endpoint closed the connection");
      }
      if (count == 0) {
        long millis = (deadline - System.nanoTime()) / 1_000_000;
        if (millis <= 0 || selector.select(millis) == 0) {
          throw new IOException("endpoint did not answer in time");
        }
        selector.selectedKeys().clear();
      }
    }
  }

  /// The runtime directory, which was found to be the right one.
  Path directory() {
    return directory;
  }

  Limits limits() {
    return limits;
  }

  /// False once the endpoint has ended the session. One system call.
  boolean isAlive() {
    if (ended) {
      return false;
    }
    try {
      probe.clear();
      ended = channel.read(probe) != 0;
    } catch (IOException e) {
      ended = true;
    }
    return !ended;
  }

  private static void closeQuietly(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    closeQuietly(channel);
  }
}
