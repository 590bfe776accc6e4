package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueState;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.order.Backoff;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Random programs against a model that is a list of tasks: what was handed out, in which order, how often; through crashes over files as
/// of any earlier force.
///
/// `kakehashi.queue.programs` sets how many, `kakehashi.queue.seed` the first one's seed.
class RandomProgramTest {
  private static final int PROGRAMS = Integer.getInteger("kakehashi.queue.programs", 6);
  private static final long SEED = Long.getLong("kakehashi.queue.seed", System.nanoTime());
  private static final int STEPS = Integer.getInteger("kakehashi.queue.steps", 250);
  private static final int MAX_ATTEMPTS = 4;

  @TempDir Path directory;

  /// A task as it has to be.
  private static final class Model {
    final long id;
    final @Nullable String key;
    final @Nullable String unique;
    int attempts;
    long notBefore;
    @Nullable LeasedTask lease;

    Model(long id, @Nullable String key, @Nullable String unique, long notBefore) {
      this.id = id;
      this.key = key;
      this.unique = unique;
      this.notBefore = notBefore;
    }
  }

  private @Nullable LogHost running;
  private @Nullable Path runningAt;
  private Random random = new Random();
  private boolean ordered;

  /// One task of so many is for later.
  private int delays = 8;

  /// By commit order.
  private Map<Long, Model> open = new TreeMap<>();

  private long enqueued;
  private long done;

  /// Dead tasks, by commit order.
  private Map<Long, Model> dead = new TreeMap<>();

  private long canceled;
  private @Nullable Path image;
  private int images;

  private LogHost host() {
    return Objects.requireNonNull(running);
  }

  private Path home() {
    return Objects.requireNonNull(runningAt);
  }

  @Test
  void shouldDoWhatTheModelDoes() throws IOException {
    for (int program = 0; program < PROGRAMS; program++) {
      long seed = SEED + program;
      try {
        run(seed);
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private void run(long seed) throws IOException {
    random = new Random(seed);
    ordered = random.nextBoolean();
    delays = random.nextBoolean() ? 8 : 2;
    open = new TreeMap<>();
    enqueued = 0;
    done = 0;
    dead = new TreeMap<>();
    canceled = 0;
    image = null;
    runningAt = directory.resolve("home" + seed);
    running = new LogHost(home()).start();
    host().create(this::options);
    for (int step = 0; step < STEPS; step++) {
      step();
    }
    compare();
    drain();
    host().queues.close();
  }

  private QueueOptionsBuilder options(QueueOptionsBuilder builder) {
    builder.leaseMillis(50_000).maxAttempts(MAX_ATTEMPTS).backoff(100, 400, 1).aging(0);
    return ordered ? builder.ordered() : builder;
  }

  private void step() throws IOException {
    switch (random.nextInt(24)) {
      case 0, 1, 2, 3, 4 -> enqueue();
      case 5, 6, 7, 8 -> receive(1 + random.nextInt(4));
      case 9, 10, 11 -> end(lent(), 0);
      case 12 -> end(lent(), 1);
      case 13 -> end(lent(), 2);
      case 14 -> host().advance(random.nextInt(300));
      case 15 -> cancel();
      case 16 -> rolledBack();
      case 17 -> {
        host().queues.force();
        if (random.nextInt(3) == 0) {
          keepImage();
        }
      }
      case 18 -> {
        if (random.nextInt(4) == 0) {
          crash();
        }
      }
      case 19, 20 -> replace();
      case 21 -> {
        if (random.nextInt(3) == 0) {
          moveDead();
        }
      }
      default -> {
        if (random.nextInt(20) == 0) {
          purge();
        }
      }
    }
  }

  private void enqueue() {
    int count = 1 + random.nextInt(5);
    List<Model> made = new ArrayList<>();
    host()
        .commit(changes -> {
          for (int each = 0; each < count; each++) {
            String key = random.nextInt(3) == 0 ? null : "key " + random.nextInt(4);
            String fair = random.nextInt(4) == 0 ? "fair " + random.nextInt(2) : null;
            int priority = random.nextInt(5) == 0 ? 7 : 4;
            long runAt =
                random.nextInt(delays) == 0
                    ? host().wall + random.nextInt(delays == 2 ? 3000 : 500) + 1
                    : 0;
            String unique = random.nextInt(3) == 0 ? "unique " + random.nextInt(3) : null;
            byte[] payload = new byte[random.nextInt(20) == 0 ? 2000 : 10];
            NewTask task =
                new NewTask(
                    new dev.kakehashi.engine.api.queue.Payload(false, payload),
                    key,
                    fair,
                    priority,
                    runAt,
                    unique,
                    0);
            long id = changes.enqueue(LogHost.QUEUE, task);
            Model other = ofUnique(made, unique);
            other = other == null ? ofUnique(open.values(), unique) : other;
            if (other == null) {
              made.add(new Model(id, key, unique, runAt));
            } else {
              assertEquals(other.id, id);
            }
          }
        });
    for (Model each : made) {
      open.put(enqueued++, each);
    }
  }

  /// The task that has a unique key.
  private static @Nullable Model ofUnique(Collection<Model> of, @Nullable String unique) {
    return unique == null
        ? null
        : of.stream().filter(each -> unique.equals(each.unique)).findFirst().orElse(null);
  }

  private static NewTask unique(String unique) {
    return new NewTask(LogHost.payload("again"), null, null, 4, 0, unique, 0);
  }

  /// Number of the task that another transaction gets when it makes one of a unique key; negative: it has to wait.
  private long tellOther(String unique) {
    var changes = host().queues.newChanges();
    try {
      return changes.enqueue(LogHost.QUEUE, unique(unique));
    } catch (EngineException e) {
      assertEquals(ErrorCode.SERIALIZATION_FAILURE, e.code());
      return -1;
    } finally {
      changes.ended(false);
      host().settle();
    }
  }

  /// A transaction ends a task of a unique key, and makes another one of that key.
  private void replace() {
    List<Model> all = open.values().stream().filter(each -> each.unique != null).toList();
    if (all.isEmpty()) {
      return;
    }
    Model task = all.get(random.nextInt(all.size()));
    String unique = Objects.requireNonNull(task.unique);
    LeasedTask lease = task.lease;
    var changes = host().queues.newChanges();
    long before = changes.mark();
    boolean purge = lease == null && random.nextInt(8) == 0;
    boolean fail = lease != null && task.attempts == MAX_ATTEMPTS && random.nextBoolean();
    if (purge) {
      changes.purge(LogHost.QUEUE, false);
    } else if (lease == null) {
      assertTrue(changes.cancel(LogHost.QUEUE, task.id));
    } else if (fail) {
      changes.fail(lease.token(), "no", -1);
    } else {
      changes.complete(lease.token());
    }
    assertEquals(-1, tellOther(unique));
    long middle = changes.mark();
    long id = changes.enqueue(LogHost.QUEUE, unique(unique));
    assertTrue(id != task.id);
    assertEquals(id, changes.enqueue(LogHost.QUEUE, unique(unique)));
    assertEquals(-1, tellOther(unique));
    if (random.nextInt(3) == 0) {
      changes.rollbackTo(middle);
      assertEquals(-1, tellOther(unique));
      id = changes.enqueue(LogHost.QUEUE, unique(unique));
    }
    if (random.nextInt(4) == 0) {
      changes.rollbackTo(before);
      assertEquals(task.id, tellOther(unique));
      assertEquals(task.id, changes.enqueue(LogHost.QUEUE, unique(unique)));
      changes.ended(false);
      host().settle();
      return;
    }
    if (random.nextInt(4) == 0) {
      host().queues.force();
    }
    if (random.nextInt(3) == 0) {
      if (random.nextBoolean()) {
        changes.prepareCommit();
      }
      changes.ended(false);
      host().settle();
      assertEquals(task.id, tellOther(unique));
      return;
    }
    host().put(changes);
    if (purge) {
      purged();
    } else {
      long place = take(task);
      if (fail) {
        dead.put(place, task);
      } else if (lease == null) {
        canceled++;
      } else {
        done++;
      }
    }
    task.lease = null;
    open.put(enqueued++, new Model(id, null, unique, 0));
    assertEquals(id, tellOther(unique));
  }

  /// Takes a task from the open ones.
  ///
  /// @return its place in the order of commits
  private long take(Model task) {
    for (var each : open.entrySet()) {
      if (each.getValue() == task) {
        open.remove(each.getKey());
        return each.getKey();
      }
    }
    throw new AssertionError("task " + task.id + " is not open");
  }

  /// Dead tasks come again, but those whose unique key another one has.
  private void moveDead() {
    long[] moved = new long[1];
    host()
        .commit(changes ->
            moved[0] = changes.move(LogHost.QUEUE, LogHost.QUEUE, true, Long.MAX_VALUE, null, 0));
    long expected = 0;
    for (var each : List.copyOf(dead.entrySet())) {
      Model task = each.getValue();
      if (ofUnique(open.values(), task.unique) == null) {
        dead.remove(each.getKey());
        open.put(enqueued++, new Model(task.id, task.key, task.unique, 0));
        canceled++;
        expected++;
      }
    }
    assertEquals(expected, moved[0]);
  }

  private Model byId(long id) {
    for (Model each : open.values()) {
      if (each.id == id) {
        return each;
      }
    }
    throw new AssertionError("task " + id + " is handed out, but not open");
  }

  private void receive(int max) {
    List<LeasedTask> tasks = host().receive(max);
    for (LeasedTask each : tasks) {
      Model model = byId(each.taskId());
      assertNull(model.lease, "lent twice");
      assertTrue(model.notBefore <= host().wall, "too early");
      assertEquals(model.attempts + 1, each.token().attempt());
      if (ordered && model.key != null) {
        for (Model other : open.values()) {
          if (other == model) {
            break;
          }
          assertTrue(
              !model.key.equals(other.key), () -> "task " + other.id + " comes before " + model.id);
        }
      }
      model.attempts++;
      model.lease = each;
    }
    if (tasks.size() < max) {
      for (Model each : open.values()) {
        assertTrue(!isReady(each), () -> "task " + each.id + " is ready, and not handed out");
      }
    }
  }

  private boolean isReady(Model task) {
    if (task.lease != null || task.notBefore > host().wall) {
      return false;
    }
    if (ordered && task.key != null) {
      for (Model other : open.values()) {
        if (other == task) {
          return true;
        }
        if (task.key.equals(other.key)) {
          return false;
        }
      }
    }
    return true;
  }

  private @Nullable Model lent() {
    List<Model> lent = open.values().stream().filter(each -> each.lease != null).toList();
    return lent.isEmpty() ? null : lent.get(random.nextInt(lent.size()));
  }

  private void end(@Nullable Model task, int how) {
    if (task == null) {
      return;
    }
    LeasedTask lease = assertNotNullLease(task);
    task.lease = null;
    switch (how) {
      case 0 -> {
        host().complete(lease);
        open.values().remove(task);
        done++;
      }
      case 1 -> {
        host().fail(lease, -1);
        if (task.attempts == MAX_ATTEMPTS) {
          dead.put(take(task), task);
        } else {
          task.notBefore =
              host().wall
                  + Backoff.millis(options(new QueueOptionsBuilder()).build(), task.attempts);
        }
      }
      default -> {
        host().commit(changes -> changes.release(lease.token()));
        task.attempts--;
        task.notBefore = 0;
      }
    }
    EngineException again =
        org.junit.jupiter.api.Assertions.assertThrows(
            EngineException.class, () -> host().complete(lease));
    assertEquals(ErrorCode.LEASE_LOST, again.code());
  }

  private static LeasedTask assertNotNullLease(Model task) {
    return Objects.requireNonNull(task.lease);
  }

  private void cancel() {
    if (open.isEmpty()) {
      return;
    }
    List<Model> all = List.copyOf(open.values());
    Model task = all.get(random.nextInt(all.size()));
    boolean[] found = new boolean[1];
    host().commit(changes -> found[0] = changes.cancel(LogHost.QUEUE, task.id));
    assertEquals(task.lease == null, found[0]);
    if (found[0]) {
      open.values().remove(task);
      canceled++;
    }
  }

  private void rolledBack() {
    Model task = lent();
    var changes = host().queues.newChanges();
    changes.enqueue(LogHost.QUEUE, LogHost.task("never"));
    if (task != null) {
      changes.complete(assertNotNullLease(task).token());
    }
    for (Model each : List.copyOf(open.values())) {
      if (random.nextInt(4) == 0) {
        changes.cancel(LogHost.QUEUE, each.id);
      }
    }
    if (random.nextBoolean()) {
      changes.prepareCommit();
    }
    if (random.nextBoolean()) {
      host().advance(random.nextInt(100));
    }
    changes.ended(false);
    host().settle();
  }

  private void purge() {
    host().commit(changes -> changes.purge(LogHost.QUEUE, false));
    purged();
  }

  private void purged() {
    canceled += open.values().stream().filter(each -> each.lease == null).count() + dead.size();
    dead.clear();
    open.values().removeIf(each -> each.lease == null);
  }

  private void keepImage() throws IOException {
    image = directory.resolve("image" + images++);
    copy(home(), image);
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.walkFileTree(
        from,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path each, BasicFileAttributes attributes)
              throws IOException {
            Files.createDirectories(to.resolve(from.relativize(each)));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path each, BasicFileAttributes attributes)
              throws IOException {
            Files.copy(each, to.resolve(from.relativize(each)));
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /// The process ends. Files are those of the end, or of an earlier force; the log is whole.
  private void crash() throws IOException {
    Path next = home();
    if (image != null && random.nextBoolean()) {
      next = directory.resolve("image" + images++);
      copy(image, next);
    }
    LogHost again = new LogHost(next, host().log);
    again.definitions = host().definitions;
    again.nanos = host().nanos + 1000;
    again.wall = host().wall + 1000;
    running = again.start();
    runningAt = next;
    for (Model each : List.copyOf(open.values())) {
      if (each.lease != null) {
        each.lease = null;
        each.notBefore = 0;
        if (each.attempts == MAX_ATTEMPTS) {
          dead.put(take(each), each);
        }
      }
    }
    compare();
  }

  private void compare() {
    QueueState state = host().state();
    Map<String, Long> expected = new HashMap<>();
    expected.put("enqueued", enqueued);
    expected.put("done", done);
    expected.put("dead", (long) dead.size());
    expected.put("canceled", canceled);
    expected.put("leased", open.values().stream().filter(each -> each.lease != null).count());
    Map<String, Long> actual = new HashMap<>();
    actual.put("enqueued", state.tasks().enqueued());
    actual.put("done", state.tasks().done());
    actual.put("dead", state.tasks().dead());
    actual.put("canceled", state.tasks().canceled());
    actual.put("leased", state.tasks().leased());
    assertEquals(expected, actual);
    assertEquals(List.of(), host().problems());
  }

  /// Everything comes to its end, and leaves nothing.
  private void drain() {
    for (Model each = lent(); each != null; each = lent()) {
      end(each, 0);
    }
    while (!open.isEmpty()) {
      host().advance(1000);
      receive(1 + random.nextInt(10));
      for (Model each = lent(); each != null; each = lent()) {
        end(each, 0);
      }
    }
    compare();
    host().commit(changes -> changes.purge(LogHost.QUEUE, false));
    assertEquals(0, host().state().fileBytes());
  }
}
