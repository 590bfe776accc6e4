package dev.kakehashi.transport.endpoint;

import dev.kakehashi.protocol.EngineFacts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.Threads;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.messages.AttachDecoder;
import dev.kakehashi.protocol.messages.AttachedEncoder;
import dev.kakehashi.protocol.messages.AuthenticationChallengeEncoder;
import dev.kakehashi.protocol.messages.AuthenticationResponseDecoder;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.Credentials;
import dev.kakehashi.transport.os.Descriptors;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The attach socket: one thread for all clients.
///
/// A connection says who it is with one `Attach`, proves it if it is asked to, gets its answer, and then is silent; its end is the end of
/// the session, whoever died.
final class AttachServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AttachServer.class);
  private static final int BACKLOG = 256;

  /// Longest frame of a proof.
  private static final int MAX_RESPONSE_BYTES =
      Protocol.MESSAGE_HEADER_BYTES
          + AuthenticationResponseDecoder.BLOCK_LENGTH
          + AuthenticationResponseDecoder.messageHeaderLength()
          + Protocol.MAX_AUTHENTICATION_BYTES;

  /// A client that has said who it is, and may have to prove it.
  ///
  /// @param osUserName of its OS user
  record Applicant(
      ClientKind kind,
      String osUserName,
      String applicationName,
      long processId,
      long pidNamespace,
      long damagedQueue,
      Authenticator.Answer answer) {}

  /// A connection: first `session` is null and a deadline runs, then the session lives as long as the connection. Attach thread only.
  static final class Connection {
    final SocketChannel channel;
    final Credentials credentials;
    final long deadlineNanos;
    ByteBuffer input = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
    boolean lengthKnown;
    @Nullable Applicant applicant;
    @Nullable EndpointSession session;

    Connection(SocketChannel channel, Credentials credentials, long deadlineNanos) {
      this.channel = channel;
      this.credentials = credentials;
      this.deadlineNanos = deadlineNanos;
    }
  }

  private final RuntimeDirectory directory;
  private final TransportConfig config;
  private final SessionTable sessions;
  private final Authenticator authenticator;
  private final AttachedEngine engine;
  private final long incarnation;
  private final ServerSocketChannel server;
  private final Selector selector;
  private final Thread thread;
  private final ConcurrentLinkedQueue<EndpointSession> disconnects = new ConcurrentLinkedQueue<>();
  private volatile boolean refusing;
  private volatile boolean closed;

  // Attach thread only.
  private final Map<Long, Connection> attached = new HashMap<>();
  private final UnattachedConnections unattached = new UnattachedConnections();

  private AttachServer(
      RuntimeDirectory directory,
      TransportConfig config,
      SessionTable sessions,
      Authenticator authenticator,
      AttachedEngine engine,
      long incarnation,
      ServerSocketChannel server,
      Selector selector) {
    this.directory = directory;
    this.config = config;
    this.sessions = sessions;
    this.authenticator = authenticator;
    this.engine = engine;
    this.incarnation = incarnation;
    this.server = server;
    this.selector = selector;
    this.thread = Thread.ofPlatform().name("kakehashi-attach").unstarted(this::run);
  }

  static AttachServer open(
      RuntimeDirectory directory,
      TransportConfig config,
      SessionTable sessions,
      Authenticator authenticator,
      AttachedEngine engine,
      long incarnation)
      throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(directory.socket()), BACKLOG);
    directory.share(directory.socket(), false);
    server.configureBlocking(false);
    Selector selector = Selector.open();
    server.register(selector, SelectionKey.OP_ACCEPT);
    return new AttachServer(
        directory, config, sessions, authenticator, engine, incarnation, server, selector);
  }

  void start() {
    thread.start();
  }

  /// New clients are told that the endpoint is shutting down.
  void refuseNew() {
    refusing = true;
  }

  /// Ends a session from our side. Any thread.
  void disconnect(EndpointSession session) {
    disconnects.add(session);
    selector.wakeup();
  }

  private void run() {
    while (!closed) {
      try {
        selector.select(unattached.isEmpty() ? 0 : 100);
        Iterator<SelectionKey> keys = selector.selectedKeys().iterator();
        while (keys.hasNext()) {
          SelectionKey key = keys.next();
          keys.remove();
          handle(key);
        }
        dropLate();
        dropDisconnected();
      } catch (IOException e) {
        LOG.error("attach socket failed", e);
      } catch (RuntimeException e) {
        LOG.error("attach thread failed on one connection", e);
      }
    }
    for (SelectionKey key : selector.keys()) {
      if (key.attachment() instanceof Connection connection) {
        drop(key, connection);
      }
    }
    closeQuietly(selector, "selector");
    closeQuietly(server, "attach socket");
  }

  private void handle(SelectionKey key) throws IOException {
    if (key.isValid() && key.isAcceptable()) {
      accept();
    } else if (key.isValid() && key.attachment() instanceof Connection connection) {
      try {
        read(key, connection);
      } catch (IOException e) {
        drop(key, connection);
      }
    }
  }

  private void accept() throws IOException {
    SocketChannel channel = server.accept();
    if (channel == null) {
      return;
    }
    channel.configureBlocking(false);
    long deadline = System.nanoTime() + config.sessions().attachTimeout().toNanos();
    Connection connection = new Connection(channel, Credentials.ofPeer(channel), deadline);
    SelectionKey key = channel.register(selector, SelectionKey.OP_READ, connection);
    unattached.put(key, connection);
    SelectionKey surplus = unattached.surplus();
    while (surplus != null) {
      refuse(surplus, unattached.get(surplus));
      surplus = unattached.surplus();
    }
  }

  /// Ends a connection in whose place others may say who they are.
  private void refuse(SelectionKey key, Connection connection) {
    UnsafeBuffer reply = new UnsafeBuffer(new byte[Protocol.MAX_SOCKET_FRAME_BYTES]);
    TransportException reason =
        new TransportException(
            ErrorCode.TOO_MANY_SESSIONS,
            "too many connections of this OS user that have not attached",
            "",
            "",
            null);
    try {
      send(connection, reply, refusal(reply, reason.failure()));
    } catch (IOException e) {
      LOG.debug("a connection has gone before it was refused", e);
    }
    drop(key, connection);
  }

  /// The same as [#send], with a descriptor that the client gets a copy of.
  private static boolean sendWithDescriptor(
      Connection connection, UnsafeBuffer frame, int length, int descriptor) throws IOException {
    ByteBuffer output = ByteBuffer.allocate(4 + length).order(ByteOrder.LITTLE_ENDIAN);
    output.putInt(length).put(frame.byteArray(), 0, length);
    return Descriptors.send(connection.channel, output.array(), descriptor);
  }

  /// Whether the frame has gone whole.
  private static boolean send(Connection connection, UnsafeBuffer frame, int length)
      throws IOException {
    ByteBuffer output = ByteBuffer.allocate(4 + length).order(ByteOrder.LITTLE_ENDIAN);
    output.putInt(length).put(frame.byteArray(), 0, length).flip();
    connection.channel.write(output);
    return !output.hasRemaining();
  }

  private void read(SelectionKey key, Connection connection) throws IOException {
    int count = connection.channel.read(connection.input);
    if (count < 0) {
      drop(key, connection);
      return;
    }
    if (connection.session != null) {
      if (count > 0) {
        LOG.warn("session {} sends on its attach socket", connection.session.id());
        drop(key, connection);
      }
      return;
    }
    if (connection.input.hasRemaining()) {
      return;
    }
    connection.input.flip();
    if (!connection.lengthKnown) {
      int length = connection.input.getInt();
      int most =
          connection.applicant == null ? Protocol.MAX_SOCKET_FRAME_BYTES : MAX_RESPONSE_BYTES;
      if (length < Protocol.MESSAGE_HEADER_BYTES || length > most) {
        drop(key, connection);
        return;
      }
      connection.lengthKnown = true;
      connection.input = ByteBuffer.allocate(length);
      read(key, connection);
      return;
    }
    answer(key, connection, new UnsafeBuffer(connection.input.array()));
  }

  private void answer(SelectionKey key, Connection connection, UnsafeBuffer frame)
      throws IOException {
    UnsafeBuffer reply = new UnsafeBuffer(new byte[Protocol.MAX_SOCKET_FRAME_BYTES]);
    int length;
    EndpointSession session = null;
    boolean goesOn = false;
    try {
      Applicant applicant = connection.applicant;
      Authenticator.Answer answer;
      if (applicant == null) {
        applicant = apply(connection, frame);
        answer = applicant.answer();
      } else {
        answer = verify(applicant.answer(), frame);
      }
      switch (answer) {
        case Authenticator.Challenge challenge -> {
          connection.applicant = applicant;
          goesOn = true;
          length = encodeChallenge(reply, challenge.message());
        }
        case Authenticator.Accepted accepted -> {
          session = open(connection, applicant, accepted.identity());
          length = encodeAttached(reply, session, accepted.proof());
        }
      }
    } catch (TransportException e) {
      length = refusal(reply, e.failure());
    } catch (MalformedFrameException | IllegalArgumentException | IndexOutOfBoundsException e) {
      length =
          refusal(reply, Failure.of(ErrorCode.MALFORMED_MESSAGE, String.valueOf(e.getMessage())));
    } catch (IOException | RuntimeException | InternalError e) {
      // InternalError: mapped memory of the library's that could not be touched. Without this
      // thread nobody could attach any more.
      LOG.error("could not open a session", e);
      length =
          refusal(
              reply,
              Failure.of(ErrorCode.INTERNAL_ERROR, "could not open session: " + e.getMessage()));
    }
    if (goesOn) {
      // It stays among the unattached: the deadline is that of the whole exchange.
      connection.lengthKnown = false;
      connection.input = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
    } else {
      unattached.remove(key);
      connection.applicant = null;
      connection.session = session;
      connection.input = ByteBuffer.allocate(1);
    }
    if (session != null) {
      attached.put(session.id(), connection);
    }
    int descriptor =
        session == null
            ? AttachedEngine.NO_DESCRIPTOR
            : engine.memoryFor(connection.credentials.uid());
    boolean isSent =
        descriptor == AttachedEngine.NO_DESCRIPTOR
            ? send(connection, reply, length)
            : sendWithDescriptor(connection, reply, length, descriptor);
    if (!isSent || (session == null && !goesOn)) {
      // A socket's buffer holds far more than an answer; a client that has filled it does not play
      // by the rules.
      drop(key, connection);
    }
  }

  private static Authenticator.Accepted verify(Authenticator.Answer asked, UnsafeBuffer frame) {
    if (Frames.templateId(frame) != AuthenticationResponseDecoder.TEMPLATE_ID
        || !(asked instanceof Authenticator.Challenge challenge)) {
      throw new MalformedFrameException("message is not AuthenticationResponse");
    }
    var response = Frames.wrap(new AuthenticationResponseDecoder(), frame);
    return challenge.verify(Frames.nextText(response, frame));
  }

  private static int encodeChallenge(UnsafeBuffer buffer, String message) {
    AuthenticationChallengeEncoder encoder = new AuthenticationChallengeEncoder();
    encoder.wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder()).message(message);
    return Protocol.MESSAGE_HEADER_BYTES + encoder.encodedLength();
  }

  private Applicant apply(Connection connection, UnsafeBuffer frame) throws IOException {
    checkNew();
    if (frame.capacity() < Protocol.MESSAGE_HEADER_BYTES
        || (frame.getShort(4, ByteOrder.LITTLE_ENDIAN) & 0xFFFF) != Protocol.SCHEMA_ID
        || (frame.getShort(2, ByteOrder.LITTLE_ENDIAN) & 0xFFFF) != AttachDecoder.TEMPLATE_ID) {
      throw new MalformedFrameException("first message is not Attach");
    }
    AttachDecoder attach = Frames.wrap(new AttachDecoder(), frame);
    int version = frame.getShort(6, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
    long layoutVersion = attach.layoutVersion();
    ClientKind kind = attach.clientKind();
    long processId = attach.processId();
    long pidNamespace = attach.pidNamespace();
    long damagedQueue = version < 5 ? 0 : attach.damagedQueue();
    String applicationName = Frames.nextText(attach, frame);
    String userName = Frames.nextText(attach, frame);
    boolean isPasswordSent = Frames.nextLength(attach, frame) > 0;
    Frames.skipBytes(attach, Frames.nextLength(attach, frame));
    String clientVersion = Frames.nextText(attach, frame);
    checkVersions(clientVersion, version, layoutVersion);
    if (kind == ClientKind.NULL_VAL) {
      throw new MalformedFrameException("unknown kind of client");
    }
    if (isPasswordSent) {
      throw new MalformedFrameException("a password is proved, never sent");
    }
    String authentication = Frames.nextText(attach, frame);
    int uid = connection.credentials.uid();
    if (!directory.admits(uid)) {
      throw new TransportException(
          ErrorCode.AUTHENTICATION_FAILED,
          "OS user " + uid + " may not use this endpoint",
          "",
          "Add the user to \"allowed_users\" of the endpoint.",
          null);
    }
    String osUserName = Credentials.userName(uid);
    return new Applicant(
        kind,
        osUserName,
        applicationName,
        processId,
        pidNamespace,
        damagedQueue,
        authenticator.authenticate(uid, osUserName, userName, authentication));
  }

  private void checkNew() {
    if (refusing) {
      throw new TransportException(ErrorCode.SHUTTING_DOWN, "the endpoint is shutting down");
    }
  }

  private void checkVersions(String clientVersion, int version, long layoutVersion) {
    if (version != Protocol.PROTOCOL_VERSION || layoutVersion != Protocol.LAYOUT_VERSION) {
      throw new TransportException(
          ErrorCode.VERSION_MISMATCH,
          "endpoint %s speaks protocol %d with layout %d, client %s speaks protocol %d with layout %d"
              .formatted(
                  config.endpointVersion(),
                  Protocol.PROTOCOL_VERSION,
                  Protocol.LAYOUT_VERSION,
                  clientVersion,
                  version,
                  layoutVersion),
          "",
          "Install the same release of endpoint and client.",
          null);
    }
  }

  private EndpointSession open(
      Connection connection, Applicant applicant, Authenticator.Identity identity)
      throws IOException {
    checkNew();
    return sessions.open(
        new EndpointSession.Client(
            connection.credentials,
            applicant.kind(),
            applicant.osUserName(),
            identity,
            applicant.applicationName(),
            applicant.processId(),
            applicant.pidNamespace(),
            applicant.damagedQueue()));
  }

  private int encodeAttached(UnsafeBuffer buffer, EndpointSession session, String proof) {
    TransportConfig.Mailbox mailbox = config.mailbox();
    Capabilities capabilities = engine.capabilities();
    AttachedEncoder encoder = new AttachedEncoder();
    encoder
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .sessionId(session.id())
        .incarnation(incarnation)
        .mailboxOffset(session.mailboxOffset())
        .mailboxFileBytes(session.principal().mailboxes().fileBytes())
        .arenaFileBytes(session.principal().arena().fileBytes())
        .slotsPerMailbox(mailbox.slots())
        .slotBytes(mailbox.slotBytes())
        .frameOffset(mailbox.headAreaBytes())
        .frameAreaBytes(mailbox.frameAreaBytes())
        .inlineOffset(mailbox.headAreaBytes() + mailbox.frameAreaBytes())
        .inlineBytes(mailbox.inlineBytes())
        .channelWindow(mailbox.channelWindow())
        .arenaBlockBytes(config.buffers().blockBytes())
        .maxBatchBytes(config.buffers().maxBatchBytes())
        .maxFrameBytes(config.queue().maxFrameBytes())
        .maxStatements(config.sessions().maxStatements())
        .queueBlockBytes(config.queue().blockBytes())
        .spinNanos(config.sessions().clientSpin().toNanos())
        .leaseNanos(config.sessions().lease().toNanos())
        .reservedSlots(mailbox.reservedSlots())
        .queueNumber(session.queue().number());
    EngineFacts.encode(encoder, capabilities);
    encoder
        .queueName(session.queue().name())
        .principal(session.principal().name())
        .endpointVersion(config.endpointVersion())
        .authentication(proof)
        .engine(capabilities.engine());
    return Protocol.MESSAGE_HEADER_BYTES + encoder.encodedLength();
  }

  private static int refusal(UnsafeBuffer buffer, Failure failure) {
    return failure.asFatal().encode(buffer, 0, 0, 0, TransactionState.NONE);
  }

  private void drop(SelectionKey key, Connection connection) {
    key.cancel();
    unattached.remove(key);
    closeQuietly(connection.channel, "connection");
    EndpointSession session = connection.session;
    if (session != null && attached.remove(session.id()) != null) {
      sessions.ended(session);
    }
  }

  /// Closes connections that have not said who they are.
  private void dropLate() {
    long now = System.nanoTime();
    for (SelectionKey key : unattached.keys()) {
      Connection connection = unattached.get(key);
      if (now - connection.deadlineNanos > 0) {
        drop(key, connection);
      }
    }
  }

  private void dropDisconnected() {
    EndpointSession session = disconnects.poll();
    while (session != null) {
      Connection connection = attached.get(session.id());
      if (connection != null) {
        SelectionKey key = connection.channel.keyFor(selector);
        if (key != null) {
          drop(key, connection);
        }
      }
      session = disconnects.poll();
    }
  }

  private static void closeQuietly(AutoCloseable closeable, String what) {
    try {
      closeable.close();
    } catch (Exception e) {
      LOG.warn("could not close {}: {}", what, e.getMessage());
    }
  }

  /// Ends every session and the thread.
  @Override
  public void close() {
    refusing = true;
    closed = true;
    selector.wakeup();
    Threads.joinUninterruptibly(thread);
  }
}
