package dev.kakehashi.transport.endpoint;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RequestTimes;
import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All sessions, and what they share: principals' memory and queues.
///
/// A session's id is `generation << 16 | index`, so that the poller finds it by one array access. The attach thread adds sessions, the
/// poller ends and releases them; both under the lock of this object, except [#find].
final class SessionTable implements EndpointSession.SessionHost, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SessionTable.class);
  private static final int INDEX_BITS = 16;
  private static final long QUEUE_IDLE_NANOS = 10_000_000_000L;

  /// Between two looks at the files of the queues.
  private static final long LOOK_NANOS = 1_000_000_000L;

  private final RequestTimes requestTimes = new RequestTimes();
  private final TransportConfig config;
  private final RuntimeDirectory directory;
  private final Poller poller;
  private final ControlPage control;
  private final WatchedChannels watched;
  private final RequestHandler handler;
  private final @Nullable ResponseObserver observer;
  private final AtomicReferenceArray<EndpointSession> table;
  private @Nullable AttachServer attachServer; // set once, before any session

  // Guarded by this.
  private final Map<Integer, Principal> principals = new HashMap<>();
  private final Map<RequestQueue.Writers, RequestQueue> queues = new HashMap<>();
  private final Map<RequestQueue, Long> idleSince = new HashMap<>();

  /// Damaged queues, which get no new sessions; the sessions that they have end by themselves.
  private final Set<RequestQueue> retired = new HashSet<>();

  private long nextLookNanos = System.nanoTime(); // poller only
  private long generation;
  private int attached;
  private int occupied;
  private long endedDirectReads; // of sessions that are not in the table any more

  SessionTable(
      TransportConfig config,
      RuntimeDirectory directory,
      Poller poller,
      ControlPage control,
      WatchedChannels watched,
      RequestHandler handler) {
    this.config = config;
    this.directory = directory;
    this.poller = poller;
    this.control = control;
    this.watched = watched;
    this.handler = handler;
    this.observer = handler instanceof ResponseObserver observing ? observing : null;
    this.table = new AtomicReferenceArray<>(config.sessions().maxSessions());
  }

  void attachServer(AttachServer server) {
    attachServer = server;
  }

  /// Makes and removes a queue, so that the first client does not wait for half a second of class loading.
  void warmUp() throws IOException {
    RequestQueue.create(directory, new RequestQueue.Writers(0, 0, 0, 0), config).close();
  }

  /// Opens a session. Attach thread only.
  ///
  /// @throws TransportException TOO_MANY_SESSIONS, DISK_FULL
  synchronized EndpointSession open(EndpointSession.Client client) throws IOException {
    int index = 0;
    while (index < table.length() && table.get(index) != null) {
      index++;
    }
    if (index == table.length()) {
      throw new TransportException(
          ErrorCode.TOO_MANY_SESSIONS,
          "sorry, too many sessions already",
          "The endpoint has " + index + " sessions.",
          "Raise \"max_sessions\" of the endpoint, or use a connection pooler.",
          null);
    }
    int uid = client.credentials().uid();
    limitUser(uid);
    Principal principal = principals.get(uid);
    if (principal == null) {
      principal = Principal.create(directory, uid, config);
      principals.put(uid, principal);
    }
    retire(client);
    RequestQueue queue = queueFor(client);
    long id = ++generation << INDEX_BITS | index;
    EndpointSession session;
    try {
      session = new EndpointSession(id, client, principal, queue, config, this);
    } catch (TransportException e) {
      if (queue.sessions() == 0) {
        idleSince.put(queue, System.nanoTime());
      }
      throw e;
    }
    queue.addSessions(1);
    idleSince.remove(queue);
    occupied++;
    attached++;
    table.set(index, session);
    control.sessions(attached);
    return session;
  }

  /// Keeps room for others: each OS user but the endpoint's own has a limit, and a quarter of the sessions is for the endpoint's own alone.
  private void limitUser(int uid) {
    if (uid == Credentials.ownUid()) {
      return;
    }
    int ofUser = 0;
    int ofOthers = 0;
    for (int index = 0; index < table.length(); index++) {
      EndpointSession session = table.get(index);
      if (session != null && session.uid() != Credentials.ownUid()) {
        ofOthers++;
        ofUser += session.uid() == uid ? 1 : 0;
      }
    }
    int limit = config.sessions().userLimit();
    if (ofUser >= limit) {
      throw new TransportException(
          ErrorCode.TOO_MANY_SESSIONS,
          "sorry, too many sessions of this OS user already",
          "OS user %d has %d sessions.".formatted(uid, ofUser),
          "Raise \"max_user_sessions\" of the endpoint, or use a connection pooler.",
          null);
    }
    if (ofOthers >= table.length() - table.length() / 4) {
      throw new TransportException(
          ErrorCode.TOO_MANY_SESSIONS,
          "sorry, too many sessions already",
          "The sessions that are left are kept for the endpoint's own OS user.",
          "Raise \"max_sessions\" of the endpoint, or use a connection pooler.",
          null);
    }
  }

  /// A client could not append to a queue of its kind of writers: those who attach from now on get another one.
  private void retire(EndpointSession.Client client) {
    if (client.damagedQueue() == 0) {
      return;
    }
    for (RequestQueue queue : List.copyOf(queues.values())) {
      RequestQueue.Writers writers = queue.writers();
      if (queue.number() == client.damagedQueue()
          && writers.uid() == client.credentials().uid()
          && writers.pidNamespace() == client.pidNamespace()
          && writers.kind() == client.kind().value()) {
        LOG.warn(
            "queue {} is damaged, as a client says that could not append to it: it gets no more sessions, and is removed when the {} that it has are gone",
            queue.name(),
            queue.sessions());
        queues.remove(writers);
        retired.add(queue);
        if (queue.sessions() == 0) {
          idleSince.put(queue, System.nanoTime());
        }
      }
    }
  }

  /// The queue of that kind of writer with the fewest sessions; a new one while there are fewer than configured and all have some.
  private RequestQueue queueFor(EndpointSession.Client client) throws IOException {
    RequestQueue best = null;
    int kind = client.kind().value();
    for (int number = 0; number < config.queue().queuesPerPrincipal(); number++) {
      RequestQueue.Writers writers =
          new RequestQueue.Writers(client.credentials().uid(), client.pidNamespace(), kind, number);
      RequestQueue queue = queues.get(writers);
      if (queue == null) {
        if (best != null && best.sessions() == 0) {
          return best;
        }
        queue = RequestQueue.create(directory, writers, config);
        queues.put(writers, queue);
        poller.add(queue);
        return queue;
      }
      if (best == null || queue.sessions() < best.sessions()) {
        best = queue;
      }
    }
    return java.util.Objects.requireNonNull(best);
  }

  /// The session of a request that came through `queue`; null when there is none, or not there.
  @Nullable EndpointSession find(long sessionId, RequestQueue queue) {
    int index = (int) (sessionId & (1 << INDEX_BITS) - 1);
    EndpointSession session = index < table.length() ? table.get(index) : null;
    if (session == null || session.id() != sessionId || session.isClosed()) {
      return null;
    }
    if (session.queue() != queue) {
      queue.warn(
          "carries a request of session "
              + sessionId
              + ", which belongs to queue "
              + session.queue().name());
      return null;
    }
    return session;
  }

  /// The client of `session` is gone. Attach thread.
  void ended(EndpointSession session) {
    poller.execute(() -> end(session));
  }

  private void end(EndpointSession session) {
    session.close();
    try {
      handler.sessionClosed(session);
    } finally {
      synchronized (this) {
        attached--;
        control.sessions(attached);
      }
      session.unhold();
    }
  }

  @Override
  public void sessionReleased(EndpointSession session) {
    poller.execute(() -> release(session));
  }

  private synchronized void release(EndpointSession session) {
    watched.forget(session);
    endedDirectReads += session.traffic().directReads();
    session.releaseMemory();
    table.set((int) (session.id() & (1 << INDEX_BITS) - 1), null);
    RequestQueue queue = session.queue();
    queue.addSessions(-1);
    // One that could not be read is closed already.
    if (queue.sessions() == 0
        && (queues.get(queue.writers()) == queue || retired.contains(queue))) {
      idleSince.put(queue, System.nanoTime());
    }
    occupied--;
    notifyAll();
  }

  @Override
  public RequestTimes requestTimes() {
    return requestTimes;
  }

  @Override
  public @Nullable ResponseObserver observer() {
    return observer;
  }

  @Override
  public void disconnect(EndpointSession session, String reason) {
    java.util.Objects.requireNonNull(attachServer).disconnect(session);
  }

  @Override
  public void watchWritable(ResponseChannel channel) {
    watched.watchWritable(channel);
  }

  @Override
  public void watchDrained(ResponseChannel channel) {
    watched.watchDrained(channel);
  }

  /// Ends the sessions of a queue that cannot be read, and removes it: the next client gets a new one. Poller only.
  ///
  /// All under the lock, so that no session is opened on the queue in between.
  synchronized void queueFailed(RequestQueue queue) {
    for (int index = 0; index < table.length(); index++) {
      EndpointSession session = table.get(index);
      if (session != null && session.queue() == queue) {
        session.refuse("its request queue cannot be read");
      }
    }
    discard(queue);
  }

  /// Takes a queue out of use, unless it is already. Sessions that are still ending may refer to it. Poller only, under the lock.
  private void discard(RequestQueue queue) {
    idleSince.remove(queue);
    if (queues.remove(queue.writers(), queue) || retired.remove(queue)) {
      poller.remove(queue);
      queue.close();
    }
  }

  /// Closes queues that have had no session for a while, and ends those whose files somebody has replaced, truncated or removed. Poller
  /// only.
  long tick(long nowNanos) {
    List<RequestQueue> idle = new ArrayList<>();
    synchronized (this) {
      if (nowNanos - nextLookNanos >= 0) {
        nextLookNanos = nowNanos + LOOK_NANOS;
        List<RequestQueue> all = new ArrayList<>(queues.values());
        all.addAll(retired);
        for (RequestQueue queue : all) {
          String damage = queue.damage();
          if (damage != null) {
            LOG.warn("queue {} is damaged, its sessions end: {}", queue.name(), damage);
            queueFailed(queue);
          }
        }
      }
      idleSince.forEach((queue, since) -> {
        if (nowNanos - since > QUEUE_IDLE_NANOS) {
          idle.add(queue);
        }
      });
      idle.forEach(this::discard);
    }
    return Long.MAX_VALUE;
  }

  synchronized int count() {
    return attached;
  }

  /// Sessions whose clients are attached. Thread-safe, without the lock.
  List<EndpointSession> list() {
    List<EndpointSession> sessions = new ArrayList<>();
    for (int index = 0; index < table.length(); index++) {
      EndpointSession session = table.get(index);
      if (session != null && !session.isClosed()) {
        sessions.add(session);
      }
    }
    return sessions;
  }

  /// Direct reads that sessions say to have made, also those that have ended.
  synchronized long directReads() {
    long sum = endedDirectReads;
    for (int index = 0; index < table.length(); index++) {
      EndpointSession session = table.get(index);
      sum += session == null ? 0 : session.traffic().directReads();
    }
    return sum;
  }

  synchronized TransportEndpoint.ResourceUsage usage() {
    int mailboxes = 0;
    int requests = 0;
    int blocks = 0;
    for (int index = 0; index < table.length(); index++) {
      EndpointSession session = table.get(index);
      requests += session == null ? 0 : session.openResponses();
    }
    for (Principal principal : principals.values()) {
      mailboxes += principal.mailboxes().usedCount();
      blocks += principal.arena().usedBlocks();
    }
    return new TransportEndpoint.ResourceUsage(
        mailboxes, requests, blocks, queues.size(), watched.size());
  }

  /// Waits until the last session has been released; false when that takes longer than until `deadlineNanos`.
  synchronized boolean awaitReleased(long deadlineNanos) {
    boolean interrupted = false;
    while (occupied > 0) {
      long millis = (deadlineNanos - System.nanoTime()) / 1_000_000;
      if (millis <= 0) {
        break;
      }
      try {
        wait(millis);
      } catch (InterruptedException e) {
        interrupted = true;
        break;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return occupied == 0;
  }

  /// Unmaps everything. The poller has ended.
  @Override
  public synchronized void close() {
    queues.values().forEach(RequestQueue::close);
    retired.forEach(RequestQueue::close);
    principals.values().forEach(Principal::close);
  }
}
