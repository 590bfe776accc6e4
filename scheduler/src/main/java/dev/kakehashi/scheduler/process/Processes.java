package dev.kakehashi.scheduler.process;

import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.SchedulerPart;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.scheduler.metrics.Counters;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The processes of a scheduler: spawning, addressing, messages, commands. Thread-safe.
///
/// `slots` grows under the lock and is read without it; an entry is set under the lock and cleared when its process
/// ends. Slots are used again, the one that was free for longest first.
public final class Processes extends SchedulerPart {
  /// A look at one process.
  ///
  /// @param pid its address
  /// @param method what it was asked to do
  /// @param state where it was
  /// @param steps made so far
  public record Info(Pid pid, String method, Process.State state, long steps) {}

  private record Handler(Class<?> type, CommandHandler<Object> handler) {}

  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(ProcessRun[].class);
  private static final CommandHandler<Object> NO_HANDLER =
      (command, tag, completer) ->
          completer.fail(
              new IllegalArgumentException(
                  "no handler for commands of class " + command.getClass().getName()));

  private final int queueLimit;
  private final List<Handler> handlers = new CopyOnWriteArrayList<>();
  private final Map<Class<?>, CommandHandler<Object>> handlerOf = new ConcurrentHashMap<>();
  private volatile @Nullable ProcessRun[] slots = new @Nullable ProcessRun[16];
  private int[] generations = new int[16]; // guarded by this
  private final ArrayDeque<Integer> free = new ArrayDeque<>(); // guarded by this
  private int used; // guarded by this
  private volatile boolean closing;

  private Processes(TaskScheduler scheduler) {
    super(scheduler);
    queueLimit = scheduler.config().intValue(SchedulerConfig.Parameter.PROCESS_QUEUE_LIMIT);
  }

  /// The processes of a scheduler, the same object at every call.
  public static Processes of(TaskScheduler scheduler) {
    return scheduler.part(Processes.class, Processes::new);
  }

  /// Sets who carries out commands of a class and its subclasses. The first handler that fits is taken; a
  /// command without one fails.
  public <C> void handle(Class<C> type, CommandHandler<? super C> handler) {
    Objects.requireNonNull(handler, "handler");
    handlers.add(
        new Handler(
            type, (command, tag, completer) -> handler.handle(type.cast(command), tag, completer)));
    handlerOf.clear();
  }

  /// As [#spawn(Process, String, Object, BiConsumer)] without a callback.
  public Pid spawn(Process process, String method, @Nullable Object input) {
    return spawn(process, method, input, null);
  }

  /// Starts a process, which is a job named after its method. It is closed in any case, also if this throws.
  ///
  /// @param onComplete gets the result, or why the process failed or was canceled; in the job's teardown
  /// @throws SchedulerStoppedException if the scheduler is shutting down
  public Pid spawn(
      Process process,
      String method,
      @Nullable Object input,
      @Nullable BiConsumer<@Nullable Object, @Nullable Throwable> onComplete) {
    Objects.requireNonNull(process, "process");
    ProcessRun run = add(process, Objects.requireNonNull(method, "method"), input, onComplete);
    try {
      scheduler().job("process " + method).onTeardown(run::ended).submit(run);
    } catch (RuntimeException refused) {
      remove(run.pid(), 0);
      try {
        process.close();
      } catch (RuntimeException e) {
        refused.addSuppressed(e);
      }
      throw refused;
    }
    if (closing) {
      cancel(run.pid()); // the shutdown may have looked before it was there
    }
    return run.pid();
  }

  /// Sends a message; false if the process has ended or never existed.
  ///
  /// @throws java.util.concurrent.RejectedExecutionException if `processQueueLimit` events wait there
  public boolean send(Pid to, @Nullable Object message) {
    return send(to, Event.message(message));
  }

  /// Sends an event that the caller owns: a new one or one that it has taken. False if the process has ended or never
  /// existed; one that was just ending may have spent the event, so send another one then.
  ///
  /// @throws IllegalArgumentException if the event is no message
  /// @throws IllegalStateException if the event waits somewhere
  /// @throws java.util.concurrent.RejectedExecutionException if `processQueueLimit` events wait there
  public boolean send(Pid to, Event event) {
    if (event.kind() != Event.Kind.MESSAGE) {
      throw new IllegalArgumentException("cannot send on a " + event.kind());
    }
    ProcessRun run = find(to);
    if (run == null) {
      return false;
    }
    if (!event.enterQueue()) {
      throw new IllegalStateException("cannot send an event that waits to be taken");
    }
    return run.post(event, queueLimit);
  }

  /// Asks a process to end, with a CANCEL event; false if it has ended or never existed.
  public boolean cancel(Pid pid) {
    ProcessRun run = find(pid);
    if (run == null) {
      return false;
    }
    Event event = new Event(Event.Kind.CANCEL, 0, null);
    return event.enterQueue() && run.post(event, Integer.MAX_VALUE);
  }

  /// Where a process is; COMPLETE if it has ended or never existed.
  public Process.State state(Pid pid) {
    ProcessRun run = find(pid);
    return run == null ? Process.State.COMPLETE : run.publicState();
  }

  /// All processes that have not ended.
  public List<Info> list() {
    List<Info> all = new ArrayList<>();
    for (ProcessRun run : live()) {
      all.add(new Info(run.pid(), run.method(), run.publicState(), run.steps()));
    }
    return all;
  }

  /// Number of processes that have not ended.
  @Override
  public synchronized int count() {
    return used;
  }

  // ---- for the scheduler ----

  /// Asks all to end: the scheduler shuts down and accepts no new ones.
  @Override
  protected void cancelAll() {
    closing = true; // before the look: who is added after it sees this
    for (ProcessRun run : live()) {
      cancel(run.pid());
    }
  }

  @Override
  protected List<String> described() {
    return list().stream().map(Info::toString).toList();
  }

  private List<ProcessRun> live() {
    List<ProcessRun> runs = new ArrayList<>();
    @Nullable ProcessRun[] table = slots;
    for (int i = 0; i < table.length; i++) {
      ProcessRun run = (ProcessRun) SLOT.getVolatile(table, i);
      if (run != null) {
        runs.add(run);
      }
    }
    return runs;
  }

  private @Nullable ProcessRun find(Pid pid) {
    @Nullable ProcessRun[] table = slots;
    if (pid.slot() < 0 || pid.slot() >= table.length) {
      return null;
    }
    ProcessRun run = (ProcessRun) SLOT.getVolatile(table, pid.slot());
    return run != null && run.pid().equals(pid) ? run : null;
  }

  private synchronized ProcessRun add(
      Process process,
      String method,
      @Nullable Object input,
      @Nullable BiConsumer<@Nullable Object, @Nullable Throwable> onComplete) {
    Integer reused = free.poll();
    int slot = reused == null ? used : reused;
    if (slot >= slots.length) {
      generations = Arrays.copyOf(generations, 2 * slot);
      slots = Arrays.copyOf(slots, 2 * slot);
    }
    used++;
    ProcessRun run =
        new ProcessRun(
            this, new Pid(slot, generations[slot]++), process, method, input, onComplete);
    SLOT.setVolatile(slots, slot, run);
    return run;
  }

  void remove(Pid pid, int droppedEvents) {
    synchronized (this) {
      SLOT.setVolatile(slots, pid.slot(), null);
      free.add(pid.slot());
      used--;
    }
    if (droppedEvents > 0) {
      count(Counters.EVENTS_DROPPED, droppedEvents);
    }
  }

  /// Queues the next step of a process that was waiting.
  void fail(Job job, Throwable thrown) {
    failJob(job, thrown);
  }

  void onCancel(Job job, Runnable hook) {
    onCancelOf(job, hook);
  }

  void wake(ProcessRun run, Job job) {
    publish(run, job);
  }

  void dispatch(Object command, long tag, Completer completer) {
    CommandHandler<Object> handler = handlerOf.computeIfAbsent(command.getClass(), this::handlerOf);
    try {
      handler.handle(command, tag, completer);
    } catch (Throwable t) {
      completer.fail(t);
    }
  }

  private CommandHandler<Object> handlerOf(Class<?> type) {
    for (Handler candidate : handlers) {
      if (candidate.type().isAssignableFrom(type)) {
        return candidate.handler();
      }
    }
    return NO_HANDLER;
  }

  void countStep(TaskContext context) {
    count(Counters.PROCESS_STEPS, context);
  }

  void countEnd(Job job) {
    count(Counters.PROCESSES_DONE, 1);
    if (job.failure() != null) {
      count(Counters.PROCESSES_FAILED, 1);
    }
  }
}
