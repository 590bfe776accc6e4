package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.messages.BuffersGrantedDecoder;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.CompletedDecoder;
import dev.kakehashi.protocol.messages.PongDecoder;
import dev.kakehashi.protocol.messages.PreparedDecoder;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.Credentials;
import dev.kakehashi.transport.os.MappedFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// One attached session.
///
/// Used by one thread at a time. [#close()] ends it, and with it every transaction that no other session has attached to.
public final class Session implements AutoCloseable {
  private final AttachOptions options;
  private final AttachSocket socket;
  private final Limits limits;
  private final RequestAppender appender;
  private final MappedFile mailbox;
  private final MappedFile arena;
  private final RequestEncoder encoder;
  private final DirectQueries direct;
  private final ArrayDeque<PendingCall> freeCalls = new ArrayDeque<>();
  private final BitSet statements = new BitSet();
  private @Nullable InboundBuffers inbound;
  private int usedSlots;
  private boolean closed;

  private Session(AttachOptions options, AttachSocket socket, Path runtimeDirectory) {
    this.options = options;
    this.socket = socket;
    this.limits = socket.limits();
    this.appender = new RequestAppender(runtimeDirectory, limits);
    long mailboxBytes = (long) limits.mailbox().slots() * limits.mailbox().slot().bytes();
    this.mailbox =
        MappedFile.open(
            runtimeDirectory.resolve("mailboxes").resolve(limits.identity().principal()),
            limits.mailbox().offset(),
            mailboxBytes);
    this.arena =
        MappedFile.open(
            runtimeDirectory.resolve("arena").resolve(limits.identity().principal()),
            0,
            limits.arenaFileBytes());
    this.encoder = new RequestEncoder(limits, appender);
    MemorySegment firstSlot = mailbox.memory().asSlice(0, limits.mailbox().slot().bytes());
    this.direct = new DirectQueries(this, socket.takeMemory(), firstSlot);
  }

  /// Attaches to the endpoint.
  ///
  /// @throws EndpointException 08001 when it cannot be reached, 08P01 when versions differ, 28000, 53300, ...
  public static Session attach(AttachOptions options) {
    AttachSocket socket = AttachSocket.attach(options);
    try {
      socket.checkControlPage();
      return new Session(options, socket, socket.directory());
    } catch (RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  /// Makes ready what the first native call needs, for a program that wants to begin soon and has a thread to spare. Any thread.
  public static void warm() {
    Credentials.ownUid();
  }

  /// Initialises the library of request queues, as the first session would after it has attached. For a program that lets another thread
  /// [#warm()] meanwhile; no other thread may touch that library at this time.
  public static void load() {
    RequestAppender.load();
  }

  public Limits limits() {
    return limits;
  }

  /// Capabilities of the endpoint's engine. Requests beyond them are refused with 0A000.
  public Capabilities capabilities() {
    return limits.engine();
  }

  /// How it was attached.
  AttachOptions options() {
    return options;
  }

  /// A durable queue of the engine, see [TaskQueue].
  ///
  /// @param name as SQL writes it: `mail`, `shop.mail`
  public TaskQueue queue(String name) {
    return new TaskQueue(this, name);
  }

  /// False once the endpoint has ended the session, or it is closed. One system call.
  public boolean isAlive() {
    return !closed && socket.isAlive();
  }

  void checkAlive() {
    if (!isAlive()) {
      throw EndpointException.of(
          ErrorCode.CONNECTION_FAILURE,
          closed ? "session is closed" : "endpoint has ended the session unexpectedly");
    }
  }

  /// Prepares one statement; parameters are `$1`, `$2`, ...
  ///
  /// @param parameterTypeOids 0 or nothing: the endpoint infers the type
  public PreparedStatement prepare(String sql, int... parameterTypeOids) {
    int id = statements.nextClearBit(0);
    if (id >= limits.maxStatements()) {
      throw EndpointException.of(
          ErrorCode.LIMIT_EXCEEDED,
          "session has " + id + " prepared statements, the endpoint's maximum");
    }
    Reply reply = prepare(id, sql, parameterTypeOids).require(PreparedDecoder.TEMPLATE_ID);
    statements.set(id);
    return FinalFrames.prepared(this, id, sql, reply);
  }

  private Reply prepare(int id, String sql, int[] parameterTypeOids) {
    byte[] text = sql.getBytes(StandardCharsets.UTF_8);
    return text.length <= encoder.mostInlineSqlBytes(parameterTypeOids)
        ? prepare(id, text, 0, 0, parameterTypeOids)
        : prepareInbound(id, text, parameterTypeOids);
  }

  /// Prepares a statement once more, for the ticket alone.
  ///
  /// @return null: there is none, or not of the same columns. Why, a request of the statement will say
  DirectQueries.@Nullable Ticketed ticketedAnew(PreparedStatement statement) {
    int id = statements.nextClearBit(0);
    if (id >= limits.maxStatements()) {
      return null;
    }
    int[] types = statement.parameterTypeOids();
    Reply reply = prepare(id, statement.sql(), types);
    if (reply.templateId() != PreparedDecoder.TEMPLATE_ID) {
      return null;
    }
    statements.set(id);
    try (PreparedStatement again = FinalFrames.prepared(this, id, statement.sql(), reply)) {
      boolean isSame =
          again.columns().equals(statement.columns())
              && Arrays.equals(again.parameterTypeOids(), types);
      return isSame ? again.ticketed() : null;
    }
  }

  DirectQueries direct() {
    return direct;
  }

  /// Rows that this session has looked for in the endpoint's memory, without a request. The endpoint is told, for displays.
  public long directReads() {
    return direct.reads();
  }

  private Reply prepare(
      int id, byte[] text, long inboundOffset, int inboundBytes, int[] parameterTypeOids) {
    PendingCall call = take();
    send(
        call,
        () -> encoder.prepare(call, id, text, inboundOffset, inboundBytes, parameterTypeOids));
    return complete(call);
  }

  /// A statement that is too long for the queue.
  private Reply prepareInbound(int id, byte[] text, int[] parameterTypeOids) {
    long offset = acquireText(text);
    try {
      return prepare(id, new byte[0], offset, text.length, parameterTypeOids);
    } finally {
      // Else it goes with the other buffers, which are given back together.
      if (inbound == null && isAlive()) {
        releaseAll();
      }
    }
  }

  private long acquireText(byte[] text) {
    long offset = acquireOne(text.length);
    MemorySegment.copy(text, 0, arena.memory(), ValueLayout.JAVA_BYTE, offset, text.length);
    return offset;
  }

  void closeStatement(int id) {
    if (statements.get(id) && isAlive()) {
      statements.clear(id);
      encoder.closeStatement(id);
    }
  }

  /// Runs a query as a transaction of its own. One row by its whole key is read in the endpoint's memory, where that is given to us (see
  /// [AttachOptions#directReads()]) and nothing speaks against it; the answer is the same.
  public Rows query(PreparedStatement statement) {
    return query(statement, statement.noParameters());
  }

  public Rows query(PreparedStatement statement, Parameters parameters) {
    Rows read = statement.session() == this ? direct.query(statement, parameters) : null;
    if (read != null) {
      return read;
    }
    PendingCall call =
        execute(statement, parameters, ExecuteRequest.autoCommit(TransactionOptions.DEFAULT));
    return new Rows(this, call, statement.columns(), reply -> {});
  }

  /// Runs a statement that returns no rows as a transaction of its own, once per row of parameters; returns the rows changed.
  public long update(PreparedStatement statement, Parameters parameters) {
    PendingCall call =
        execute(statement, parameters, ExecuteRequest.autoCommit(TransactionOptions.DEFAULT));
    return complete(call).require(CompletedDecoder.TEMPLATE_ID).rowsAffected();
  }

  public long update(PreparedStatement statement) {
    return update(statement, statement.noParameters());
  }

  /// Prepares, runs and closes a statement without parameters and rows (DDL, for instance); returns the rows changed.
  public long execute(String sql) {
    try (PreparedStatement statement = prepare(sql)) {
      return update(statement);
    }
  }

  /// A procedure of an application, see [Procedure].
  ///
  /// @param name as SQL writes it: `place`, `shop.place`
  /// @param parameterTypeOids of the values that its calls give, one for each parameter
  public Procedure procedure(String name, int... parameterTypeOids) {
    return new Procedure(this, name, parameterTypeOids);
  }

  PendingCall execute(PreparedStatement statement, Parameters parameters, ExecuteRequest request) {
    if (statement.session() != this) {
      throw EndpointException.of(
          ErrorCode.INVALID_STATEMENT, "statement was prepared in another session");
    }
    PendingCall call = take();
    direct.executed(statement);
    parameters.writer().finish();
    MemorySegment batch = parameters.writer().batch();
    long offset = inbound == null ? -1 : inbound.offsetOf(batch);
    boolean none = parameters.writer().columnCount() == 0 && parameters.rowCount() == 0;
    send(
        call,
        () -> {
          if (offset >= 0) {
            encoder.executeInbound(call, statement.id(), request, offset, (int) batch.byteSize());
          } else {
            encoder.execute(call, statement.id(), request, none ? MemorySegment.NULL : batch);
          }
        });
    return call;
  }

  public Transaction begin() {
    return begin(TransactionOptions.DEFAULT);
  }

  public Transaction begin(TransactionOptions options) {
    PendingCall call = take();
    send(call, () -> encoder.begin(call, options));
    Reply reply = complete(call).require(CompletedDecoder.TEMPLATE_ID);
    return new Transaction(this, true, reply.handle(), reply.leaseDeadlineNanos());
  }

  /// Continues the open transaction of the same user that a token names, whoever has begun it: psql, a Java client or an HTTP client. It
  /// lives as long as this session does at least, if a session like this one has begun it, and by its lease otherwise.
  ///
  /// @param token see [Transaction#token()]
  /// @throws EndpointException 25P01 if there is none, or it is somebody else's
  public Transaction continueTransaction(String token) {
    PendingCall call = take();
    send(call, () -> encoder.continueTransaction(call, token));
    Reply reply = complete(call).require(CompletedDecoder.TEMPLATE_ID);
    return new Transaction(this, false, reply.handle(), reply.leaseDeadlineNanos());
  }

  Reply exportTransaction(long handle) {
    PendingCall call = take();
    send(call, () -> encoder.exportTransaction(call, handle));
    return complete(call);
  }

  /// Continues a transaction that another session of the same user and OS user has begun.
  public Transaction attachTransaction(long handle) {
    return new Transaction(this, false, handle, 0);
  }

  /// Outcome of a transaction; UNKNOWN when the endpoint has no record of it (any more).
  public TransactionState outcome(long handle) {
    PendingCall call = take();
    send(call, () -> encoder.queryOutcome(call, handle));
    return complete(call).require(CompletedDecoder.TEMPLATE_ID).state();
  }

  /// Cancels what runs in a transaction of the same OS user, whatever session sent it: its statements end with 57014, the transaction stays
  /// open. Does not wait for their end. A client of the endpoint's own OS user may cancel everybody's.
  ///
  /// @return false if there is no such transaction (any more)
  public boolean cancelTransaction(long handle) {
    PendingCall call = take();
    send(call, () -> encoder.cancelTransaction(call, handle));
    return complete(call).require(CompletedDecoder.TEMPLATE_ID).state() == TransactionState.ACTIVE;
  }

  /// Says how the session is displayed from now on, in place of [AttachOptions#applicationName()].
  public void applicationName(String name) {
    PendingCall call = take();
    send(call, () -> encoder.applicationName(call, name));
    complete(call).require(CompletedDecoder.TEMPLATE_ID);
  }

  /// Sends `payload` there and back.
  public byte[] ping(byte[] payload) {
    PendingCall call = take();
    send(call, () -> encoder.ping(call, payload));
    return FinalFrames.pong(complete(call).require(PongDecoder.TEMPLATE_ID));
  }

  /// Buffers of shared memory for bulk parameters. A session has one set at a time.
  public InboundBuffers acquireBuffers(int count, int bufferBytes) {
    inbound = acquire(count, bufferBytes);
    return inbound;
  }

  private InboundBuffers acquire(int count, int bufferBytes) {
    PendingCall call = take();
    send(call, () -> encoder.acquireBuffers(call, count, bufferBytes));
    Reply reply = complete(call).require(BuffersGrantedDecoder.TEMPLATE_ID);
    return FinalFrames.granted(reply, arena.memory());
  }

  /// One more buffer, which is given back with the others.
  long acquireOne(int bytes) {
    return acquire(1, bytes).offset(0);
  }

  boolean hasBuffers() {
    return inbound != null;
  }

  /// Gives all inbound buffers back.
  public void releaseBuffers() {
    if (inbound != null) {
      inbound = null;
      releaseAll();
    }
  }

  private void releaseAll() {
    PendingCall call = take();
    send(call, () -> encoder.releaseBuffers(call));
    complete(call).require(CompletedDecoder.TEMPLATE_ID);
  }

  /// Commits a prepared transaction of the same OS user; returns once it survives power loss.
  ///
  /// @throws EndpointException 42704 if there is none, 55000 if somebody else is deciding, 42501 if it is another user's
  public void commitPrepared(String globalId) {
    commitPrepared(globalId, CommitResponse.STORED);
  }

  public void commitPrepared(String globalId, CommitResponse response) {
    PendingCall call = take();
    send(call, () -> encoder.commitPrepared(call, globalId, response));
    complete(call).require(CompletedDecoder.TEMPLATE_ID);
  }

  /// Rolls a prepared transaction back; errors as for a commit.
  public void rollbackPrepared(String globalId) {
    PendingCall call = take();
    send(call, () -> encoder.rollbackPrepared(call, globalId));
    complete(call).require(CompletedDecoder.TEMPLATE_ID);
  }

  Reply prepareTransaction(long handle, String globalId) {
    PendingCall call = take();
    send(call, () -> encoder.prepareTransaction(call, handle, globalId));
    return complete(call);
  }

  Reply commit(long handle, CommitResponse response) {
    PendingCall call = take();
    send(call, () -> encoder.commit(call, handle, response));
    return complete(call);
  }

  Reply rollback(long handle) {
    PendingCall call = take();
    send(call, () -> encoder.rollback(call, handle));
    return complete(call);
  }

  Reply savepoint(long handle, int level) {
    PendingCall call = take();
    send(call, () -> encoder.savepoint(call, handle, level));
    return complete(call);
  }

  Reply releaseSavepoint(long handle, int level) {
    PendingCall call = take();
    send(call, () -> encoder.releaseSavepoint(call, handle, level));
    return complete(call);
  }

  Reply rollbackToSavepoint(long handle, int level) {
    PendingCall call = take();
    send(call, () -> encoder.rollbackToSavepoint(call, handle, level));
    return complete(call);
  }

  void cancel(long requestId) {
    if (isAlive()) {
      encoder.cancel(requestId);
    }
  }

  private PendingCall.Owner asOwner() {
    return new PendingCall.Owner() {
      @Override
      public void checkAlive() {
        Session.this.checkAlive();
      }

      @Override
      public void ringReleased() {
        appender.ringReleased();
      }
    };
  }

  RequestEncoder encoder() {
    return encoder;
  }

  MemorySegment arenaMemory() {
    return arena.memory();
  }

  PendingCall take() {
    checkAlive();
    PendingCall call = freeCalls.poll();
    return call == null ? makeCall() : call;
  }

  /// The call of a slot that has not been used yet. Unless it is a reserved one its memory is reserved, and stays so until the session
  /// ends.
  private PendingCall makeCall() {
    Limits.Mailbox its = limits.mailbox();
    int slotBytes = its.slot().bytes();
    if (usedSlots == its.slots()) {
      throw EndpointException.of(
          ErrorCode.OUT_OF_SLOTS,
          "session has " + its.slots() + " open results, the endpoint's maximum");
    }
    long offset = (long) usedSlots * slotBytes;
    if (usedSlots >= its.reservedSlots()) {
      try {
        mailbox.reserve(its.offset() + offset, slotBytes);
      } catch (TransportException e) {
        throw EndpointException.of(e.code(), String.valueOf(e.getMessage()), e);
      }
    }
    MemorySegment memory = mailbox.memory().asSlice(offset, slotBytes);
    return new PendingCall(asOwner(), limits, usedSlots++, memory, arena.memory());
  }

  void send(PendingCall call, Runnable request) {
    try {
      request.run();
    } catch (RuntimeException e) {
      freeCalls.addFirst(call); // nothing was sent
      if (appender.isDamaged()) {
        socket.queueDamaged();
      }
      throw e;
    }
  }

  /// Waits for the final frame and gives the slot back.
  Reply complete(PendingCall call) {
    UnsafeBuffer frame = call.finish();
    freeCalls.addFirst(call);
    return Reply.decode(frame);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    socket.close();
    direct.close();
    appender.close();
    mailbox.close();
    arena.close();
  }
}
