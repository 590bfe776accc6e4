package dev.kakehashi.client;

import dev.kakehashi.client.direct.StoreMemory;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.layout.ControlPageLayout;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.RequiredPeer;
import java.io.IOException;
import java.io.InputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// The socket that attaches a session and then stands for the life of both sides.
final class AttachSocket implements AutoCloseable {
  /// Number of the last queue that could not be appended to, by runtime directory: the endpoint is told, and gives the next session
  /// another. A number that the endpoint does not know (any more) does no harm. Threads that end or begin sessions.
  private static final Map<Path, Long> DAMAGED_QUEUES = new ConcurrentHashMap<>();

  private final Path asked;
  private final Path directory;
  private final SocketChannel channel;
  private final Limits limits;

  /// The endpoint's memory, until the session takes it.
  private @Nullable StoreMemory memory;

  private final ByteBuffer probe = ByteBuffer.allocate(1);
  private boolean ended;

  private AttachSocket(
      Path asked,
      Path directory,
      SocketChannel channel,
      Limits limits,
      @Nullable StoreMemory memory) {
    this.asked = asked;
    this.directory = directory;
    this.channel = channel;
    this.limits = limits;
    this.memory = memory;
  }

  /// @throws EndpointException 08001 when nobody listens, 28000 when it is not who has to; what the endpoint says when it refuses
  static AttachSocket attach(AttachOptions options) {
    Path path = options.runtimeDirectory().resolve("endpoint.sock");
    SocketChannel channel = null;
    boolean done = false;
    try {
      Path asked = options.runtimeDirectory();
      RequiredPeer peer =
          RequiredPeer.of(
              options.requirePeer(),
              "withRequirePeer(\"%1$s\"), or --requirepeer %1$s of a command");
      Path directory = peer.trusted(asked);
      path = directory.resolve("endpoint.sock");
      channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
      peer.check(channel, path);
      channel.configureBlocking(false);
      long damaged = DAMAGED_QUEUES.getOrDefault(asked, 0L);
      try (Attachment attachment = new Attachment(channel, options, damaged)) {
        Limits limits = attachment.run();
        AttachSocket socket =
            new AttachSocket(asked, directory, channel, limits, attachment.memory());
        done = true;
        return socket;
      }
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
    DAMAGED_QUEUES.put(asked, limits.queue().number());
    close();
  }

  /// The runtime directory, which was found to be the right one.
  Path directory() {
    return directory;
  }

  /// @throws EndpointException 08001 when the files of the runtime directory are those of another endpoint than the one that has answered
  void checkControlPage() {
    byte[] page;
    try (InputStream in = Files.newInputStream(directory.resolve("control"))) {
      page = in.readNBytes(ControlPageLayout.PAGE_BYTES);
    } catch (IOException e) {
      throw EndpointException.of(
          ErrorCode.CANNOT_CONNECT, "could not read control page: " + e.getMessage(), e);
    }
    UnsafeBuffer control = new UnsafeBuffer(page);
    if (page.length < ControlPageLayout.PAGE_BYTES
        || control.getLong(ControlPageLayout.MAGIC_OFFSET) != Protocol.CONTROL_MAGIC
        || control.getLong(ControlPageLayout.INCARNATION_OFFSET)
            != limits.identity().incarnation()) {
      throw EndpointException.of(
          ErrorCode.CANNOT_CONNECT, "runtime directory belongs to another incarnation");
    }
  }

  /// The endpoint's memory, which the caller closes; null: it was not given.
  @Nullable StoreMemory takeMemory() {
    StoreMemory taken = memory;
    memory = null;
    return taken;
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
    if (memory != null) {
      memory.close();
      memory = null;
    }
  }
}
