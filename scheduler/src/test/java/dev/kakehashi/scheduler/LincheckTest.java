package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Platform;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Lincheck's model checker on the module's own queues: random programs of a few operations, many of their interleavings, and
/// for each outcome the search for an order that explains it by a queue of one thread. Under sequential consistency;
/// Lincheck's seed is fixed, so that every build checks the same programs. `-Dscheduler.lincheckPrograms=<n>` checks more.
@Timeout(300)
class LincheckTest {
  private static final int PROGRAMS = Integer.getInteger("scheduler.lincheckPrograms", 5);
  private static final int DEQUE_CAPACITY = 8;
  private static final int RING_CAPACITY = 2;

  private record Item(int value) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      return null;
    }
  }

  private static int value(@Nullable Object taken) {
    return taken == null ? -1 : ((Item) taken).value();
  }

  /// The owner at both ends, thieves at the old one.
  public static class Deque {
    private final StealHalfDeque deque = new StealHalfDeque(DEQUE_CAPACITY, -2);

    /// Again when a thief still reads the slot: then the deque refuses, although it has room.
    @Operation(nonParallelGroup = "owner")
    public boolean push(int value) {
      boolean pushed;
      do {
        pushed = deque.push(new Item(value), null);
      } while (!pushed && deque.size() < DEQUE_CAPACITY);
      return pushed;
    }

    @Operation(nonParallelGroup = "owner")
    public boolean pushOldest(int value) {
      boolean pushed;
      do {
        pushed = deque.pushOldest(new Item(value), null);
      } while (!pushed && deque.size() < DEQUE_CAPACITY);
      return pushed;
    }

    @Operation(nonParallelGroup = "owner")
    public int popNewest() {
      return value(deque.popNewest());
    }

    @Operation(nonParallelGroup = "owner")
    public int popOldest() {
      return value(deque.popOldest());
    }

    /// Again when another claim came first, which says nothing about what is queued.
    @Operation
    public String stealHalf() {
      @Nullable Object[] batch = new @Nullable Object[2 * DEQUE_CAPACITY];
      int n;
      do {
        n = deque.stealHalf(batch, DEQUE_CAPACITY, 1);
      } while (n == 0 && deque.size() > 0);
      StringBuilder taken = new StringBuilder();
      for (int i = 0; i < n; i++) {
        taken.append(value(batch[2 * i])).append(' ');
      }
      return taken.toString();
    }
  }

  /// The same, by one thread.
  public static class SequentialDeque {
    private final ArrayDeque<Integer> items = new ArrayDeque<>();

    public boolean push(int value) {
      return items.size() < DEQUE_CAPACITY && items.offerLast(value);
    }

    public boolean pushOldest(int value) {
      return items.size() < DEQUE_CAPACITY && items.offerFirst(value);
    }

    public int popNewest() {
      return items.isEmpty() ? -1 : items.removeLast();
    }

    public int popOldest() {
      return items.isEmpty() ? -1 : items.removeFirst();
    }

    public String stealHalf() {
      StringBuilder taken = new StringBuilder();
      for (int n = (items.size() + 1) / 2; n > 0; n--) {
        taken.append(items.removeFirst()).append(' ');
      }
      return taken.toString();
    }
  }

  /// A thief that reads first and claims afterwards: what the check must find.
  public static class DequeWithFault extends Deque {
    public DequeWithFault() {
      Platform.substitute(
          new Platform.Substitute() {
            @Override
            public boolean mutated(Platform.Mutation mutation) {
              return mutation == Platform.Mutation.STEAL_READS_BEFORE_CLAIM;
            }
          });
    }
  }

  /// Any thread at both ends of an inbox.
  public static class Ring {
    // Small: Lincheck puts back, before each execution, whatever a static field leads to.
    private static final TaskScheduler IDLE =
        TaskScheduler.unstarted(
            SchedulerConfig.builder()
                .workers(1)
                .set(Parameter.LOCAL_CAPACITY, 4)
                .set(Parameter.INBOX_CAPACITY, 4)
                .build());
    private final Inbox inbox = new Inbox(RING_CAPACITY, IDLE.jobless(), new EventCount(), 0);
    private final Counters counters = new Counters();

    @Operation
    public boolean offer(int value) {
      return inbox.offer(new Item(value), null);
    }

    /// Again when another consumer has the lock or a producer has not stored yet.
    @Operation
    public int take() {
      @Nullable Object[] batch = new @Nullable Object[2];
      int n;
      do {
        n = inbox.drain(batch, 1, counters);
      } while (n == 0 && !inbox.isEmpty());
      return n == 0 ? -1 : value(batch[0]);
    }
  }

  /// The same, by one thread.
  public static class SequentialRing {
    private final ArrayDeque<Integer> items = new ArrayDeque<>();

    public boolean offer(int value) {
      return items.size() < RING_CAPACITY && items.offerLast(value);
    }

    public int take() {
      return items.isEmpty() ? -1 : items.removeFirst();
    }
  }

  private static ModelCheckingOptions options() {
    return new ModelCheckingOptions()
        .iterations(PROGRAMS)
        .invocationsPerIteration(100)
        .minimizeFailedScenario(false)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(3)
        .actorsAfter(2);
  }

  @Test
  void shouldBeALinearizableDeque() {
    options().sequentialSpecification(SequentialDeque.class).check(Deque.class);
  }

  @Test
  void shouldBeALinearizableRing() {
    options().sequentialSpecification(SequentialRing.class).check(Ring.class);
  }

  /// The owner puts another task into the place of the only one while a thief is about to claim it.
  @Test
  void shouldRefuteADequeWithAFault() throws Exception {
    ExecutionScenario exchange =
        new ExecutionScenario(
            List.of(actor("push", 1)),
            List.of(List.of(actor("popNewest"), actor("push", 2)), List.of(actor("stealHalf"))),
            List.of(),
            null);
    ModelCheckingOptions once =
        new ModelCheckingOptions()
            .iterations(0)
            .invocationsPerIteration(1000)
            .minimizeFailedScenario(false)
            .addCustomScenario(exchange)
            .sequentialSpecification(SequentialDeque.class);
    once.check(Deque.class);
    try {
      assertThrows(LincheckAssertionError.class, () -> once.check(DequeWithFault.class));
    } finally {
      Platform.substitute(null);
    }
  }

  private static Actor actor(String operation, Integer... values) throws NoSuchMethodException {
    Class<?>[] types = new Class<?>[values.length];
    Arrays.fill(types, int.class);
    Method method = Deque.class.getMethod(operation, types);
    return new Actor(method, List.of(values), false, false, false, false, false);
  }
}
