package dev.kakehashi.client;

import dev.kakehashi.client.direct.StoreMemory;
import dev.kakehashi.protocol.EngineFacts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.authentication.ScramClient;
import dev.kakehashi.protocol.authentication.ScramException;
import dev.kakehashi.protocol.messages.AttachEncoder;
import dev.kakehashi.protocol.messages.AttachedDecoder;
import dev.kakehashi.protocol.messages.AuthenticationChallengeDecoder;
import dev.kakehashi.protocol.messages.AuthenticationResponseEncoder;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.protocol.messages.FailedDecoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.transport.os.Credentials;
import dev.kakehashi.transport.os.Descriptors;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// The messages that attach a session: who we are, a proof of the password if there is one, what the endpoint answers. One thread.
///
/// The answer may bring a descriptor of the endpoint's memory, which [#close()] closes.
final class Attachment implements AutoCloseable {
  private final SocketChannel channel;
  private final AttachOptions options;
  private final long damagedQueue;
  private final long deadlineNanos;
  private final @Nullable ScramClient scram;

  /// Descriptor that came with an answer, or NONE.
  private final int[] memory = {Descriptors.NONE};

  /// @param channel connected, not blocking
  /// @param damagedQueue number of a queue that could not be appended to; 0: none
  Attachment(SocketChannel channel, AttachOptions options, long damagedQueue) {
    this.damagedQueue = damagedQueue;
    this.channel = channel;
    this.options = options;
    this.deadlineNanos = System.nanoTime() + options.timeout().toNanos();
    this.scram =
        options.password().isEmpty()
            ? null
            : new ScramClient(options.userName(), options.password().toCharArray());
  }

  /// Limits that the endpoint publishes.
  ///
  /// @throws EndpointException what it says when it refuses; 28000 when it has not proved that it knows the user, 08P01 when its part makes
  ///     no sense
  Limits run() throws IOException {
    try (Selector selector = Selector.open()) {
      channel.register(selector, SelectionKey.OP_READ);
      UnsafeBuffer buffer = new UnsafeBuffer(new byte[Protocol.MAX_SOCKET_FRAME_BYTES]);
      write(buffer, encode(buffer));
      UnsafeBuffer frame = answer(selector);
      if (Frames.templateId(frame) == AuthenticationChallengeDecoder.TEMPLATE_ID && scram != null) {
        var challenge = Frames.wrap(new AuthenticationChallengeDecoder(), frame);
        write(buffer, encodeProof(buffer, prove(scram, Frames.nextText(challenge, frame))));
        frame = answer(selector);
      }
      return limits(frame);
    }
  }

  /// The endpoint's memory, mapped for reading; the caller's from now on.
  ///
  /// @return null: the endpoint gives us none, we want none, or the system refuses
  @Nullable StoreMemory memory() {
    return memory[0] == Descriptors.NONE ? null : StoreMemory.map(memory[0]);
  }

  @Override
  public void close() {
    if (memory[0] != Descriptors.NONE) {
      Descriptors.close(memory[0]);
      memory[0] = Descriptors.NONE;
    }
  }

  private String prove(ScramClient known, String challenge) {
    try {
      return known.prove(challenge, () -> System.nanoTime() - deadlineNanos > 0);
    } catch (ScramException e) {
      ErrorCode code =
          e.reason() == ScramException.Reason.TIMED_OUT
              ? ErrorCode.CANNOT_CONNECT
              : ErrorCode.MALFORMED_MESSAGE;
      throw EndpointException.of(code, "the endpoint's part of the " + e.getMessage(), e);
    }
  }

  private Limits limits(UnsafeBuffer frame) {
    return switch (Frames.templateId(frame)) {
      case AttachedDecoder.TEMPLATE_ID -> {
        AttachedDecoder attached = Frames.wrap(new AttachedDecoder(), frame);
        Limits limits = Limits.decode(attached, frame);
        String signature = Frames.nextText(attached, frame);
        if (scram != null && !scram.verifies(signature)) {
          throw new EndpointException(
              Failure.of(
                  ErrorCode.AUTHENTICATION_FAILED,
                  "the endpoint has not proved that it knows the password of user \"%s\""
                      .formatted(options.userName()),
                  "",
                  "Another program may listen in the endpoint's place."),
              null);
        }
        yield limits.with(EngineFacts.decode(attached, frame));
      }
      case FailedDecoder.TEMPLATE_ID ->
          throw new EndpointException(
              Failure.decode(Frames.wrap(new FailedDecoder(), frame), frame), null);
      default -> throw new MalformedFrameException("answer is neither Attached nor Failed");
    };
  }

  private int encode(UnsafeBuffer buffer) throws IOException {
    AttachEncoder encoder = new AttachEncoder();
    encoder
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .layoutVersion(Protocol.LAYOUT_VERSION)
        .processId(ProcessHandle.current().pid())
        .processStartTicks(startTicks())
        .pidNamespace(Credentials.pidNamespace())
        .clientKind(ClientKind.JAVA_CLIENT)
        .damagedQueue(damagedQueue)
        .applicationName(options.applicationName())
        .userName(options.userName())
        .password("")
        .clientVersion("java 1.0.0")
        .authentication(scram == null ? "" : scram.first());
    return Protocol.MESSAGE_HEADER_BYTES + encoder.encodedLength();
  }

  private static int encodeProof(UnsafeBuffer buffer, String message) {
    AuthenticationResponseEncoder encoder = new AuthenticationResponseEncoder();
    encoder.wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder()).message(message);
    return Protocol.MESSAGE_HEADER_BYTES + encoder.encodedLength();
  }

  /// Field 22 of /proc/self/stat; the name in field 2 may contain anything but ends with the last parenthesis.
  private static long startTicks() throws IOException {
    String stat = Files.readString(Path.of("/proc/self/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return Long.parseLong(fields[22 - 3]);
  }

  /// A socket's buffer holds far more than a frame.
  private void write(UnsafeBuffer frame, int length) throws IOException {
    ByteBuffer output = ByteBuffer.allocate(4 + length).order(ByteOrder.LITTLE_ENDIAN);
    output.putInt(length).put(frame.byteArray(), 0, length).flip();
    channel.write(output);
    if (output.hasRemaining()) {
      throw new IOException("endpoint does not read");
    }
  }

  private UnsafeBuffer answer(Selector selector) throws IOException {
    ByteBuffer length = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
    read(selector, length);
    int bytes = length.getInt(0);
    if (bytes < Protocol.MESSAGE_HEADER_BYTES || bytes > Protocol.MAX_SOCKET_FRAME_BYTES) {
      throw new MalformedFrameException("answer of " + bytes + " bytes");
    }
    ByteBuffer body = ByteBuffer.allocate(bytes);
    read(selector, body);
    return new UnsafeBuffer(body.array());
  }

  private void read(Selector selector, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      // Without direct reads the kernel throws a descriptor away that comes.
      int count =
          options.directReads()
              ? Descriptors.receive(channel, buffer, memory)
              : channel.read(buffer);
      if (count < 0) {
        throw new EOFException("endpoint closed the connection");
      }
      if (count == 0) {
        long millis = (deadlineNanos - System.nanoTime()) / 1_000_000;
        if (millis <= 0 || selector.select(millis) == 0) {
          throw new IOException("endpoint did not answer in time");
        }
        selector.selectedKeys().clear();
      }
    }
  }
}
