package dev.kakehashi.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.api.queue.QueueState;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// A process for queues with virtual time and a log in memory. Confined to one thread, but for [#execute].
///
/// Records are durable at once, unless the disk is held; what is durable is kept, and replayed over the files of any earlier moment.
final class LogHost implements QueueHost {
  static final long QUEUE = 7;
  private static final long SECOND = 1_000_000_000L;

  final Path directory;

  /// Durable records, in their order.
  final List<byte[]> log;

  DurableQueues queues;
  List<QueueDefinition> definitions = new ArrayList<>();

  /// Records are not durable as long as it is true.
  boolean diskHeld;

  /// Whether what is durable can be replayed.
  boolean keepLog = true;

  /// Records are refused.
  @Nullable EngineException refusal;

  /// Records of the queues' own are refused.
  @Nullable EngineException refuseOwn;

  /// Records that were written by the queues themselves.
  int ownRecords;

  long nanos = 5 * SECOND;
  long wall = 1_700_000_000_000L;

  private long records;
  private final PriorityQueue<Ring> alarms = new PriorityQueue<>();
  private final Queue<Runnable> todo = new ConcurrentLinkedQueue<>();
  private final ArrayDeque<Written> undurable = new ArrayDeque<>();

  private record Written(byte[] bytes, long number, Consumer<@Nullable Throwable> done) {}

  private record Ring(long at, long number, Runnable action) implements Comparable<Ring> {
    @Override
    public int compareTo(Ring other) {
      int order = Long.compare(at, other.at);
      return order != 0 ? order : Long.compare(number, other.number);
    }
  }

  LogHost(Path directory) {
    this(directory, new ArrayList<>());
  }

  /// Opens what is there, with a log to be replayed.
  LogHost(Path directory, List<byte[]> log) {
    this.directory = directory;
    this.log = log;
    queues = DurableQueues.open(directory);
    for (byte[] each : log) {
      queues.replay(each, 0, each.length);
    }
  }

  LogHost start() {
    queues.start(this, definitions);
    settle();
    return this;
  }

  /// As after kill -9: what is durable is there.
  LogHost crash() {
    LogHost next = new LogHost(directory, log);
    next.definitions = definitions;
    next.nanos = nanos + SECOND;
    next.wall = wall + 1000;
    return next.start();
  }

  // ---- the host ----

  @Override
  public long wallMillis() {
    return wall;
  }

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public Alarm after(long wait, Runnable action) {
    Ring ring = new Ring(nanos + wait, ++records, action);
    alarms.add(ring);
    return () -> alarms.remove(ring);
  }

  int alarmCount() {
    return alarms.size();
  }

  @Override
  public void execute(Runnable action) {
    todo.add(action);
  }

  @Override
  public void write(QueueChanges changes, Consumer<@Nullable Throwable> done) {
    ownRecords++;
    EngineException refused = refuseOwn;
    if (refused != null) {
      changes.ended(false);
      done.accept(refused);
      return;
    }
    put(changes, done);
  }

  void put(QueueChanges changes) {
    put(changes, _ -> {});
    settle();
  }

  private void put(QueueChanges changes, Consumer<@Nullable Throwable> done) {
    try {
      changes.prepareCommit();
    } catch (EngineException e) {
      changes.ended(false);
      throw e;
    }
    EngineException refused = refusal;
    if (refused != null) {
      changes.ended(false);
      done.accept(refused);
      return;
    }
    byte[] bytes = new byte[changes.encodedBytes()];
    changes.encode(bytes, 0);
    long number = ++records;
    changes.place(bytes, 0, number);
    // Records that the queues write within the end follow it.
    undurable.add(new Written(bytes, number, done));
    changes.ended(true);
    if (!diskHeld) {
      flush();
    }
  }

  /// Written records become durable.
  void flush() {
    while (!undurable.isEmpty()) {
      Written next = undurable.remove();
      if (keepLog) {
        log.add(next.bytes);
      }
      queues.durable(next.number);
      next.done.accept(null);
    }
  }

  /// Runs what was left for other threads.
  void settle() {
    for (Runnable next = todo.poll(); next != null; next = todo.poll()) {
      next.run();
    }
  }

  /// Time passes, for both clocks.
  void advance(long millis) {
    long until = nanos + millis * 1_000_000;
    settle();
    while (!alarms.isEmpty() && alarms.peek().at <= until) {
      Ring ring = alarms.remove();
      long before = nanos;
      nanos = Math.max(nanos, ring.at);
      wall += nanos / 1_000_000 - before / 1_000_000;
      ring.action.run();
      settle();
    }
    wall += until / 1_000_000 - nanos / 1_000_000;
    nanos = until;
    settle();
  }

  // ---- users ----

  /// Makes queue [#QUEUE].
  LogHost create(UnaryOperator<QueueOptionsBuilder> options) {
    return create(QUEUE, options);
  }

  LogHost create(long queueId, UnaryOperator<QueueOptionsBuilder> options) {
    define(queueId, options, List.of());
    commit(changes -> changes.createQueue(queueId));
    return this;
  }

  void define(
      long queueId,
      UnaryOperator<QueueOptionsBuilder> options,
      List<QueueDefinition.Group> groups) {
    define(queueId, options, groups, java.util.Map.of(), List.of());
  }

  void define(
      long queueId,
      UnaryOperator<QueueOptionsBuilder> options,
      List<QueueDefinition.Group> groups,
      java.util.Map<String, Double> weights,
      List<QueueDefinition.Schedule> schedules) {
    definitions = new ArrayList<>(definitions);
    definitions.removeIf(each -> each.queueId() == queueId);
    QueueOptions made = options.apply(new QueueOptionsBuilder()).build();
    definitions.add(
        new QueueDefinition(queueId, "public", "q" + queueId, made, groups, weights, schedules));
    queues.define(definitions);
    settle();
  }

  void commit(Consumer<QueueChanges> work) {
    QueueChanges changes = queues.newChanges();
    try {
      work.accept(changes);
    } catch (EngineException e) {
      changes.ended(false);
      throw e;
    }
    put(changes, _ -> {});
    settle();
  }

  long enqueue(NewTask task) {
    long[] id = new long[1];
    commit(changes -> id[0] = changes.enqueue(QUEUE, task));
    return id[0];
  }

  long enqueue(String payload) {
    return enqueue(task(payload));
  }

  static NewTask task(String payload) {
    return NewTask.of(payload(payload));
  }

  static NewTask keyed(String payload, @Nullable String key) {
    return new NewTask(payload(payload), key, null, NewTask.DEFAULT_PRIORITY, 0, null, 0);
  }

  static Payload payload(String text) {
    return new Payload(false, text.getBytes(StandardCharsets.UTF_8));
  }

  static String text(LeasedTask task) {
    return new String(task.payload().bytes(), StandardCharsets.UTF_8);
  }

  /// Takes what is there, without waiting.
  List<LeasedTask> receive(int max) {
    Call call = call(QUEUE, 0, max, 0, LeaseHolder.TIME, List.of());
    return call.answer();
  }

  List<String> receiveTexts(int max) {
    return receive(max).stream().map(LogHost::text).toList();
  }

  LeasedTask receiveOne() {
    return receive(1).getFirst();
  }

  Call waiting(int max, long millis) {
    return call(QUEUE, 0, max, millis, LeaseHolder.TIME, List.of());
  }

  Call call(
      long queueId,
      long groupId,
      int max,
      long waitMillis,
      LeaseHolder holder,
      List<LeaseToken> completed) {
    Call call = new Call();
    call.waiting =
        queues.receive(
            new ReceiveRequest(
                queueId, groupId, max, 1 << 20, waitMillis * 1_000_000, 0, holder, completed),
            call);
    settle();
    return call;
  }

  List<LeasedTask> receive(long groupId, int max) {
    return call(QUEUE, groupId, max, 0, LeaseHolder.TIME, List.of()).answer();
  }

  void complete(LeasedTask task) {
    commit(changes -> changes.complete(task.token()));
  }

  void fail(LeasedTask task, long retryMillis) {
    commit(changes -> changes.fail(task.token(), "no", retryMillis));
  }

  QueueState state() {
    return state(QUEUE, 0);
  }

  QueueState state(long queueId, long groupId) {
    return queues.states().stream()
        .filter(each -> each.queueId() == queueId && each.groupId() == groupId)
        .findFirst()
        .orElseThrow();
  }

  List<String> problems() {
    List<String> result = new ArrayList<>();
    queues.check(result::add);
    for (QueueState each : queues.states()) {
      if (each.tasks().enqueued() != each.tasks().sum()) {
        result.add("not conserved: " + each);
      }
      if (each.missedWakeups() != 0) {
        result.add("a wake-up was missed: " + each);
      }
    }
    return result;
  }

  /// A consumer's call, and its answer.
  static final class Call implements QueueSystem.Listener {
    QueueSystem.@Nullable Waiting waiting;
    @Nullable List<LeasedTask> tasks;
    @Nullable EngineException failure;
    int answers;

    @Override
    public void received(List<LeasedTask> received) {
      tasks = received;
      answers++;
    }

    @Override
    public void failed(EngineException reason) {
      failure = reason;
      answers++;
    }

    List<LeasedTask> answer() {
      if (failure != null) {
        throw failure;
      }
      if (tasks == null) {
        throw new AssertionError("no answer yet");
      }
      return tasks;
    }
  }
}
