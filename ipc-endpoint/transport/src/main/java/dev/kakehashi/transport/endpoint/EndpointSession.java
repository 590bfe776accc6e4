package dev.kakehashi.transport.endpoint;

import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.RequestTimes;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.Credentials;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One attached client: its mailbox, its share of the buffers, its place in the queues.
///
/// Made by the attach thread; after that the poller alone calls what is not marked thread-safe. Its memory is given back when the client is
/// gone *and* the last response is finished, because tasks write into it until then.
public final class EndpointSession implements Crowd.Asker {
  private static final Logger LOG = LoggerFactory.getLogger(EndpointSession.class);

  /// Facts about a client: it says some of itself, and the kernel says the others.
  record Client(
      Credentials credentials,
      ClientKind kind,
      String osUserName,
      Authenticator.Identity identity,
      String applicationName,
      long processId,
      long pidNamespace,
      long damagedQueue) {}

  /// Traffic that a session has been sent since it began.
  ///
  /// @param requests that have an answer
  /// @param waits how often a producer had to wait until the client had read
  public record Traffic(
      long requests, long batches, long rows, long bytes, long waits, long directReads) {}

  private final long id;
  private final Client client;
  private final Principal principal;
  private final RequestQueue queue;
  private final TransportConfig config;
  private final SessionHost host;
  private final int mailboxIndex;

  // A channel is made with the first request for its slot. Written by the poller: an element, then
  // the field, so that a thread that reads the field sees the elements.
  private volatile @Nullable ResponseChannel[] channels = {};
  private final int maxBlocks;
  private final AtomicInteger blocks = new AtomicInteger();
  // Responses without a final frame, plus 1 while the client is attached; at 0 the memory goes.
  private final AtomicInteger holds = new AtomicInteger(1);
  private final List<Inbound> inbound = new ArrayList<>();
  private long lastRequestId;
  private long lastPeriod = -1;
  private volatile boolean closed;
  private final Instant attachedAt = Instant.now();
  private volatile @Nullable Object attachment;
  private volatile String applicationName;

  @Override
  public boolean firstOf(long period) {
    boolean first = lastPeriod != period;
    lastPeriod = period;
    return first;
  }

  private final LogThrottle refusals = new LogThrottle();

  private record Inbound(int firstBlock, int blocks) {}

  /// Services that a session needs of its owner.
  interface SessionHost extends ChannelWatch {
    /// Ends the session from our side.
    void disconnect(EndpointSession session, String reason);

    /// Observer that is told of every answer, if there is one.
    @Nullable ResponseObserver observer();

    /// Counts how long all requests took.
    RequestTimes requestTimes();

    /// Client gone and last response finished.
    void sessionReleased(EndpointSession session);
  }

  EndpointSession(
      long id,
      Client client,
      Principal principal,
      RequestQueue queue,
      TransportConfig config,
      SessionHost host) {
    this.id = id;
    this.client = client;
    this.applicationName = client.applicationName();
    this.principal = principal;
    this.queue = queue;
    this.config = config;
    this.host = host;
    this.mailboxIndex = principal.mailboxes().allocate();
    this.maxBlocks = (int) (config.buffers().sessionBytes() / config.buffers().blockBytes());
  }

  public long id() {
    return id;
  }

  /// OS user of the client.
  public int uid() {
    return principal.uid();
  }

  /// User of the engine.
  public String userName() {
    return client.identity().userName();
  }

  /// Whether it works as whoever runs the endpoint, see [Authenticator.Identity].
  public boolean isOperator() {
    return client.identity().isOperator();
  }

  /// As the client calls itself. Thread-safe.
  public String applicationName() {
    return applicationName;
  }

  public void applicationName(String newName) {
    applicationName = newName;
  }

  public ClientKind kind() {
    return client.kind();
  }

  /// Process of the client as we see it; 0 when it is in a PID namespace that we do not.
  public int processId() {
    return client.credentials().processId();
  }

  /// Process of the client as it sees itself: for display, as it is what the client says.
  public long displayedProcessId() {
    return client.processId();
  }

  /// Where the client has that number: inode of its PID namespace.
  public long pidNamespace() {
    return client.pidNamespace();
  }

  /// Name of the client's OS user.
  public String osUserName() {
    return client.osUserName();
  }

  public Instant attachedAt() {
    return attachedAt;
  }

  /// Thread-safe; responses that run are counted as far as they are.
  public Traffic traffic() {
    Traffic sum = new Traffic(0, 0, 0, 0, 0, 0);
    for (ResponseChannel channel : channels) {
      sum = channel == null ? sum : channel.addTo(sum);
    }
    return sum;
  }

  /// Bytes of the arena that belong to this session. Thread-safe.
  public long usedBytes() {
    return (long) blocks.get() * config.buffers().blockBytes();
  }

  /// Whether the client is gone. Thread-safe.
  public boolean isClosed() {
    return closed;
  }

  /// Object that the application keeps for this session. Set by the poller, read by any thread.
  public @Nullable Object attachment() {
    return attachment;
  }

  public void attach(Object newAttachment) {
    attachment = newAttachment;
  }

  RequestQueue queue() {
    return queue;
  }

  long mailboxOffset() {
    return principal.mailboxes().offset(mailboxIndex);
  }

  Principal principal() {
    return principal;
  }

  /// Checks what every request begins with and takes the response slot.
  ///
  /// @throws MalformedFrameException when ids do not grow or the slot is not free
  @Nullable ResponseChannel admit(long requestId, int slot) {
    if (requestId == 0 || Long.compareUnsigned(requestId, lastRequestId) <= 0) {
      throw new MalformedFrameException(
          "request " + requestId + " follows request " + lastRequestId);
    }
    lastRequestId = requestId;
    if (slot == Protocol.NO_SLOT) {
      return null;
    }
    ResponseChannel channel = channel(slot);
    channel.begin(requestId);
    holds.incrementAndGet();
    return channel;
  }

  private ResponseChannel channel(int slot) {
    if (slot >= config.mailbox().slots()) {
      throw new MalformedFrameException(
          "request names slot " + slot + " of " + config.mailbox().slots());
    }
    if (slot >= config.mailbox().reservedSlots()) {
      reserve(slot);
    }
    @Nullable ResponseChannel[] known = channels;
    ResponseChannel channel = slot < known.length ? known[slot] : null;
    if (channel == null) {
      int slotBytes = config.mailbox().slotBytes();
      MemorySegment mailbox = principal.mailboxes().memory(mailboxIndex);
      MemorySegment memory = mailbox.asSlice((long) slot * slotBytes, slotBytes);
      channel = new ResponseChannel(this, memory, config, principal.arena(), host);
      if (slot >= known.length) {
        known = Arrays.copyOf(known, Math.max(slot + 1, 2 * known.length));
      }
      known[slot] = channel;
      channels = known;
    }
    return channel;
  }

  private void reserve(int slot) {
    try {
      principal.mailboxes().reserveSlot(mailboxIndex, slot);
    } catch (TransportException e) {
      throw new MalformedFrameException("request names a slot without memory: " + e.getMessage());
    }
  }

  /// Cancels the producer of an outstanding response, if there is one of that request.
  public void cancelResponse(long requestId) {
    for (ResponseChannel channel : channels) {
      if (channel != null) {
        channel.cancel(requestId);
      }
    }
  }

  /// Grants inbound buffers.
  ///
  /// @return their offsets in the arena file; null when the session's share or the arena has no room for all of them
  /// @throws dev.kakehashi.transport.TransportException DISK_FULL
  public long @Nullable [] grantInbound(int count, int bufferBytes) {
    int blockBytes = config.buffers().blockBytes();
    int each = (bufferBytes + blockBytes - 1) / blockBytes;
    long[] offsets = new long[count];
    int granted = 0;
    try {
      while (granted < count) {
        int first = allocateInbound(each);
        if (first < 0) {
          return null;
        }
        offsets[granted++] = (long) first * blockBytes;
      }
      return offsets;
    } finally {
      if (granted < count) {
        for (int i = 0; i < granted; i++) {
          release(inbound.removeLast());
        }
      }
    }
  }

  private int allocateInbound(int each) {
    if (!takeBlocks(each)) {
      return -1;
    }
    int first = -1;
    try {
      first = principal.arena().allocate(each);
    } finally {
      if (first < 0) {
        giveBlocks(each);
      }
    }
    if (first >= 0) {
      inbound.add(new Inbound(first, each));
    }
    return first;
  }

  /// Memory of `bytes` bytes at `offset` of the arena file.
  ///
  /// @throws MalformedFrameException when it is not within one inbound buffer of this session
  public MemorySegment inboundMemory(long offset, int bytes) {
    int blockBytes = config.buffers().blockBytes();
    for (Inbound buffer : inbound) {
      long start = (long) buffer.firstBlock * blockBytes;
      long end = start + (long) buffer.blocks * blockBytes;
      if (offset >= start && offset < end && bytes >= 0 && bytes <= end - offset) {
        return principal
            .arena()
            .memory(buffer.firstBlock, buffer.blocks)
            .asSlice(offset - start, bytes);
      }
    }
    throw new MalformedFrameException(
        bytes + " inbound bytes at " + Long.toUnsignedString(offset) + " are not granted");
  }

  /// A copy of what is there.
  ///
  /// @param bytes unsigned 32 bits of a request
  /// @throws MalformedFrameException when it is not within one inbound buffer of this session
  public byte[] inboundBytes(long offset, long bytes) {
    if (bytes > Integer.MAX_VALUE) {
      throw new MalformedFrameException("inbound text of " + bytes + " bytes");
    }
    return inboundMemory(offset, (int) bytes).toArray(ValueLayout.JAVA_BYTE);
  }

  /// Takes all inbound buffers back.
  public void releaseInbound() {
    inbound.forEach(this::release);
    inbound.clear();
  }

  private void release(Inbound buffer) {
    principal.arena().free(buffer.firstBlock, buffer.blocks);
    giveBlocks(buffer.blocks);
  }

  /// Takes a part of the session's share of the arena; false when it is used up. Thread-safe.
  boolean takeBlocks(int count) {
    if (blocks.addAndGet(count) <= maxBlocks) {
      return true;
    }
    blocks.addAndGet(-count);
    return false;
  }

  /// Takes a part beyond the session's share, too. Thread-safe.
  void takeBlocksAlways(int count) {
    blocks.addAndGet(count);
  }

  boolean mayTakeBlocks(int count) {
    return blocks.get() + count <= maxBlocks;
  }

  void giveBlocks(int count) {
    blocks.addAndGet(-count);
  }

  /// Blocks of the arena that belong to this session. Thread-safe.
  public int usedBlocks() {
    return blocks.get();
  }

  /// Ends the session because its client breaks the protocol. Thread-safe.
  public void refuse(String reason) {
    if (!closed) {
      // Until the disconnect has gone through, every request that is in the queue already comes
      // here.
      String suppressed = refusals.admit();
      if (suppressed != null) {
        LOG.warn(
            "ending session {} of OS user {} (process {}): {}{}",
            id,
            uid(),
            processId(),
            reason,
            suppressed);
      }
      host.disconnect(this, reason);
    }
  }

  /// The client is gone.
  void close() {
    closed = true;
    String suppressed = refusals.takeSuppressed();
    if (!suppressed.isEmpty()) {
      LOG.warn("session {} has ended{}", id, suppressed);
    }
    for (ResponseChannel channel : channels) {
      if (channel != null) {
        channel.abandon();
      }
    }
  }

  /// The client's hold, given up once the application knows that it is gone.
  void unhold() {
    responseFinished();
  }

  /// Slots that have their memory all the time; a client that uses others has that many open results.
  public int reservedSlots() {
    return config.mailbox().reservedSlots();
  }

  /// Responses without a final frame. Thread-safe.
  public int openResponses() {
    return Math.max(0, holds.get() - (closed ? 0 : 1));
  }

  /// Called by each channel before its final frame is published. Thread-safe.
  void responding(long requestId, DirectBuffer frameArea, int frameBytes) {
    ResponseObserver observer = host.observer();
    if (observer != null) {
      observer.responding(this, requestId, new UnsafeBuffer(frameArea, 0, frameBytes));
    }
  }

  RequestTimes requestTimes() {
    return host.requestTimes();
  }

  /// Called by each channel after its final frame. Thread-safe.
  void responseFinished() {
    if (holds.decrementAndGet() == 0) {
      host.sessionReleased(this);
    }
  }

  /// Gives all memory back. Nothing of the session runs any more.
  void releaseMemory() {
    for (ResponseChannel channel : channels) {
      if (channel != null) {
        channel.release();
      }
    }
    releaseInbound();
    principal.mailboxes().free(mailboxIndex);
  }
}
