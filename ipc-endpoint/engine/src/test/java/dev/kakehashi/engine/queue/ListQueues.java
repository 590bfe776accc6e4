package dev.kakehashi.engine.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.engine.api.queue.QueueState;
import dev.kakehashi.engine.api.queue.QueueState.TaskCounts;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.engine.api.queue.TaskView;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Queues in memory, with one file that has what was forced: enough to see what the engine does with the contract. Leases do not end by
/// time, and there are no groups, limits or priorities.
///
/// Thread-safe: everything is guarded by `this`, but the host is called without it.
public final class ListQueues implements QueueSystem {
  private static final String STATE_FILE = "state";

  /// A task in its queue.
  ///
  /// @param attempts how often it was handed out
  record Task(long taskId, byte[] payload, int attempts) {}

  /// One queue.
  static final class Tasks {
    final TreeMap<Long, Task> byPosition = new TreeMap<>();
    long nextPosition = 1;
  }

  record Place(long queueId, long position) {}

  private record Waiter(ReceiveRequest request, Listener listener) {}

  private record Placed(long record, byte[] changes) {}

  private final Path directory;
  private final long incarnation;
  private final Map<Long, Tasks> queues = new TreeMap<>();
  private final Map<Long, Long> nextPositions = new HashMap<>();
  private final Deque<Placed> placed = new ArrayDeque<>();
  private final Map<Place, LeaseToken> leases = new HashMap<>();
  private final Map<LeaseToken, LeaseHolder> holders = new HashMap<>();

  /// Whose lease a transaction ends that is on its way.
  final Set<Place> held = new HashSet<>();

  private final List<Waiter> waiters = new ArrayList<>();
  private long lastTask;
  private @Nullable QueueHost host;
  private List<QueueDefinition> definitions = List.of();
  private int forced;
  private int filesHeld;
  private boolean closed;
  private int notEnded;

  /// See [dev.kakehashi.engine.api.queue.QueueOpener].
  public ListQueues(Path directory) {
    this.directory = directory;
    try {
      Files.createDirectories(directory);
      Path count = directory.resolve("incarnation");
      incarnation = Files.exists(count) ? Long.parseLong(Files.readString(count)) + 1 : 1;
      Files.writeString(count, String.valueOf(incarnation));
      Path state = directory.resolve(STATE_FILE);
      if (Files.exists(state)) {
        read(ByteBuffer.wrap(Files.readAllBytes(state)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read(ByteBuffer in) {
    for (int count = in.getInt(); count > 0; count--) {
      Tasks tasks = new Tasks();
      queues.put(in.getLong(), tasks);
      tasks.nextPosition = in.getLong();
      for (int left = in.getInt(); left > 0; left--) {
        long position = in.getLong();
        long taskId = in.getLong();
        int attempts = in.getInt();
        byte[] payload = new byte[in.getInt()];
        in.get(payload);
        tasks.byPosition.put(position, new Task(taskId, payload, attempts));
      }
    }
  }

  private synchronized byte[] state() {
    int bytes = Integer.BYTES;
    for (Tasks tasks : queues.values()) {
      bytes += 2 * Long.BYTES + Integer.BYTES;
      for (Task task : tasks.byPosition.values()) {
        bytes += 2 * Long.BYTES + 2 * Integer.BYTES + task.payload.length;
      }
    }
    ByteBuffer out = ByteBuffer.allocate(bytes).putInt(queues.size());
    queues.forEach((id, tasks) -> {
      out.putLong(id).putLong(tasks.nextPosition).putInt(tasks.byPosition.size());
      tasks.byPosition.forEach((position, task) ->
          out.putLong(position)
              .putLong(task.taskId)
              .putInt(task.attempts)
              .putInt(task.payload.length)
              .put(task.payload));
    });
    return out.array();
  }

  // ---- what tests ask ----

  /// Payloads of a queue in its order, as texts; with those that are lent.
  public synchronized List<String> payloads(long queueId) {
    Tasks tasks = queues.get(queueId);
    return tasks == null
        ? List.of()
        : tasks.byPosition.values().stream()
            .map(task -> new String(task.payload, StandardCharsets.UTF_8))
            .toList();
  }

  /// Queues that are there.
  public synchronized Set<Long> queueIds() {
    return Set.copyOf(queues.keySet());
  }

  /// How often files were forced.
  public synchronized int forced() {
    return forced;
  }

  /// Backups that hold files.
  public synchronized int filesHeld() {
    return filesHeld;
  }

  /// Definitions that the catalogue has told last.
  public synchronized List<QueueDefinition> definitions() {
    return definitions;
  }

  /// Changes that were made and have not been told of their end.
  public synchronized int notEnded() {
    return notEnded;
  }

  public synchronized boolean isClosed() {
    return closed;
  }

  // ---- the store's ----

  @Override
  public synchronized void replay(byte[] bytes, int offset, int length) {
    apply(ByteBuffer.wrap(bytes, offset, length));
  }

  private void apply(ByteBuffer in) {
    for (int count = in.getInt(); count > 0; count--) {
      ListChange change = ListChange.read(in);
      switch (change.kind()) {
        case CREATE -> queues.putIfAbsent(change.queueId(), new Tasks());
        case DROP -> {
          queues.remove(change.queueId());
          leases.keySet().removeIf(place -> place.queueId() == change.queueId());
        }
        default -> {
          Tasks tasks = queues.get(change.queueId());
          if (tasks != null) {
            apply(change, tasks);
          }
        }
      }
    }
  }

  private void apply(ListChange change, Tasks tasks) {
    long position = change.position();
    tasks.nextPosition = Math.max(tasks.nextPosition, position + 1);
    Place place = new Place(change.queueId(), position);
    switch (change.kind()) {
      case ENQUEUE ->
          tasks.byPosition.put(position, new Task(change.taskId(), change.payload(), 0));
      case COMPLETE -> {
        tasks.byPosition.remove(position);
        letGo(place);
      }
      case CLAIM ->
          tasks.byPosition.computeIfPresent(
              position, (at, task) -> new Task(task.taskId, task.payload, (int) change.taskId()));
      case RELEASE -> letGo(place);
      default -> throw new IllegalStateException("" + change.kind());
    }
  }

  private void letGo(Place place) {
    LeaseToken token = leases.remove(place);
    if (token != null) {
      holders.remove(token);
    }
    held.remove(place);
  }

  @Override
  public QueueChanges recovered(byte[] bytes, int offset, int length) {
    ListQueueChanges changes = new ListQueueChanges(this);
    changes.recover(ByteBuffer.wrap(bytes, offset, length));
    synchronized (this) {
      notEnded++;
    }
    return changes;
  }

  @Override
  public void durable(long record) {
    synchronized (this) {
      while (!placed.isEmpty() && placed.getFirst().record() <= record) {
        apply(ByteBuffer.wrap(placed.removeFirst().changes()));
      }
    }
    serve();
  }

  @Override
  public void force() {
    byte[] state = state();
    Path fresh = directory.resolve(STATE_FILE + ".new");
    try {
      try (FileChannel file =
          FileChannel.open(
              fresh,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        file.write(ByteBuffer.wrap(state));
        file.force(true);
      }
      Files.move(fresh, directory.resolve(STATE_FILE), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new EngineException(ErrorCode.IO_ERROR, "could not write \"" + fresh + "\"", e);
    }
    synchronized (this) {
      forced++;
    }
  }

  @Override
  public synchronized List<Path> holdFiles() {
    filesHeld++;
    return List.of(Path.of(STATE_FILE));
  }

  @Override
  public synchronized void releaseFiles() {
    filesHeld--;
  }

  // ---- life ----

  @Override
  public synchronized void start(QueueHost given, List<QueueDefinition> defined) {
    host = given;
    definitions = defined;
  }

  @Override
  public synchronized void define(List<QueueDefinition> defined) {
    definitions = defined;
  }

  // ---- transactions ----

  @Override
  public synchronized QueueChanges newChanges() {
    notEnded++;
    return new ListQueueChanges(this);
  }

  synchronized long newTask(long queueId) {
    if (!queues.containsKey(queueId)) {
      throw new EngineException(ErrorCode.UNDEFINED_OBJECT, "there is no queue " + queueId);
    }
    return incarnation << 40 | ++lastTask;
  }

  /// @throws EngineException LEASE_LOST
  synchronized void requireLease(LeaseToken token) {
    Place place = new Place(token.queueId(), token.position());
    if (!token.equals(leases.get(place))) {
      throw new EngineException(ErrorCode.LEASE_LOST, "the lease is lost");
    }
  }

  synchronized void hold(LeaseToken token) {
    requireLease(token);
    held.add(new Place(token.queueId(), token.position()));
  }

  /// Holds a task that an earlier run has promised to complete.
  synchronized void hold(Place place) {
    held.add(place);
  }

  synchronized long takePosition(long queueId) {
    Tasks tasks = queues.get(queueId);
    long next =
        Math.max(nextPositions.getOrDefault(queueId, 1L), tasks == null ? 1 : tasks.nextPosition);
    nextPositions.put(queueId, next + 1);
    return next;
  }

  synchronized void placed(long record, byte[] changes) {
    placed.add(new Placed(record, changes));
  }

  void ended(boolean committed, Set<Place> holding) {
    synchronized (this) {
      notEnded--;
      if (!committed) {
        held.removeAll(holding);
      }
    }
    serve();
  }

  // ---- consumers ----

  @Override
  public Waiting receive(ReceiveRequest request, Listener listener) {
    Waiter waiter = new Waiter(request, listener);
    synchronized (this) {
      waiters.add(waiter);
    }
    serve();
    if (request.waitNanos() == 0) {
      cancel(waiter);
    }
    return () -> cancel(waiter);
  }

  private void cancel(Waiter waiter) {
    boolean waited;
    synchronized (this) {
      waited = waiters.remove(waiter);
    }
    if (waited) {
      waiter.listener().received(List.of());
    }
  }

  /// Gives ready tasks to who waits, each claim as a record of its own.
  private void serve() {
    while (true) {
      Waiter waiter = null;
      List<LeasedTask> taken = new ArrayList<>();
      ListQueueChanges claim = new ListQueueChanges(this);
      QueueHost given;
      synchronized (this) {
        given = host;
        for (Waiter each : waiters) {
          take(each.request(), claim, taken);
          if (!taken.isEmpty()) {
            waiter = each;
            break;
          }
        }
        if (waiter == null || given == null) {
          return;
        }
        waiters.remove(waiter);
        notEnded++;
      }
      Listener listener = waiter.listener();
      given.write(
          claim,
          failure -> {
            if (failure == null) {
              listener.received(taken);
            } else {
              listener.failed(new EngineException(ErrorCode.IO_ERROR, "could not claim", failure));
            }
          });
    }
  }

  private void take(ReceiveRequest request, ListQueueChanges claim, List<LeasedTask> taken) {
    Tasks tasks = queues.get(request.queueId());
    if (tasks == null) {
      return;
    }
    tasks.byPosition.forEach((position, task) -> {
      Place place = new Place(request.queueId(), position);
      if (taken.size() < request.max() && !leases.containsKey(place) && !held.contains(place)) {
        int attempt = task.attempts + 1;
        LeaseToken token = new LeaseToken(incarnation, request.queueId(), 0, position, attempt, 0);
        leases.put(place, token);
        holders.put(token, request.holder());
        claim.claim(request.queueId(), position, attempt);
        taken.add(
            new LeasedTask(
                token,
                task.taskId,
                new dev.kakehashi.engine.api.queue.Payload(false, task.payload),
                null,
                null,
                0,
                0,
                0,
                null));
      }
    });
  }

  @Override
  public long extend(LeaseToken token, long leaseMillis) {
    requireLease(token);
    return 0;
  }

  @Override
  public void endHolder(LeaseHolder holder) {
    synchronized (this) {
      holders.forEach((token, of) -> {
        Place place = new Place(token.queueId(), token.position());
        if (of.equals(holder) && !held.contains(place)) {
          leases.remove(place);
        }
      });
      holders.values().removeIf(of -> of.equals(holder));
    }
    serve();
  }

  @Override
  public synchronized @Nullable Long queueOf(LeaseToken token) {
    return queues.containsKey(token.queueId()) ? token.queueId() : null;
  }

  // ---- operators ----

  @Override
  public synchronized List<QueueState> states() {
    List<QueueState> states = new ArrayList<>();
    queues.forEach((id, tasks) -> {
      long leased = leases.keySet().stream().filter(place -> place.queueId() == id).count();
      long all = tasks.byPosition.size();
      states.add(
          new QueueState(
              id,
              0,
              new TaskCounts(
                  tasks.nextPosition - 1,
                  all - leased,
                  0,
                  leased,
                  tasks.nextPosition - 1 - all,
                  0,
                  0,
                  0),
              0,
              0,
              waiters.size(),
              -1,
              0,
              0));
    });
    return states;
  }

  @Override
  public void tasks(long queueId, TaskVisitor visitor) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void leases(Consumer<TaskView> visitor) {
    throw new UnsupportedOperationException();
  }

  @Override
  public synchronized void check(Consumer<String> problem) {
    queues.forEach((id, tasks) -> {
      if (!tasks.byPosition.isEmpty() && tasks.byPosition.lastKey() >= tasks.nextPosition) {
        problem.accept("queue %d: a position that was not given".formatted(id));
      }
    });
  }

  @Override
  public void close() {
    List<Waiter> ended;
    synchronized (this) {
      closed = true;
      ended = List.copyOf(waiters);
      waiters.clear();
    }
    ended.forEach(waiter ->
        waiter
            .listener()
            .failed(new EngineException(ErrorCode.SHUTTING_DOWN, "the queues are closed")));
    force();
  }
}
