package dev.kakehashi.scheduler.process;

import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.platform.Checks;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.platform.Platform.Point;
import dev.kakehashi.scheduler.process.Process.State;
import dev.kakehashi.scheduler.process.Process.Step;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// One process at work: its state, and the task that makes its steps. The object is queued again for each step.
///
/// ```
///  state   READY -> RUNNING                            the worker that took the task
///          RUNNING -> READY, BLOCKED, IDLE, COMPLETE   that worker after the step, by CAS; READY if WAKE is set
///          RUNNING -> RUNNING | WAKE                   whoever posts an event
///          BLOCKED, IDLE -> READY                      whoever posts an event; the winner queues the task
/// ```
///
/// *No event is left behind.* A sender pushes its event, then looks at the state. It sees READY: the step to come receives
/// after having become RUNNING, so it finds the event. RUNNING: it sets WAKE, or fails because the step has ended,
/// and looks again; with WAKE set the step cannot end in a waiting state. BLOCKED or IDLE: it queues
/// the task, or someone else has. COMPLETE: the event is refused. Exactly one task stands for a process that is READY or
/// RUNNING, so steps do not overlap, and the chain of CAS orders each before the next.
///
/// *The job.* While it waits the process has a hold on its job, otherwise its task's count. A cancel of the job wakes it;
/// its task is then discarded, and that closes the process. Fields without a note belong to the running step.
public final class ProcessRun implements Task, StepOutput, ProcessContext {
  private static final int READY = 0;
  private static final int RUNNING = 1;
  private static final int BLOCKED = 2;
  private static final int IDLE = 3;
  private static final int COMPLETE = 4;
  private static final int WAKE = 8;
  private static final VarHandle STATE;
  private static final VarHandle STEPS;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(ProcessRun.class, "state", int.class);
      STEPS = MethodHandles.lookup().findVarHandle(ProcessRun.class, "steps", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private record Yielded(Object command, long tag) {}

  private final Processes processes;
  private final Pid pid;
  private final String method;
  private final Events events = new Events();
  private final List<Yielded> yielded = new ArrayList<>(0);
  private final @Nullable BiConsumer<@Nullable Object, @Nullable Throwable> onComplete;
  private @Nullable Process process;
  private @Nullable Object input;
  private @Nullable Object result;
  private Job.@Nullable Hold hold;
  private @Nullable Job job; // written by the first step; read by others once the process waits
  private boolean entered;

  @SuppressWarnings("unused")
  private volatile int state = READY;

  private volatile long steps;

  public ProcessRun(
      Processes processes,
      Pid pid,
      Process process,
      String method,
      @Nullable Object input,
      @Nullable BiConsumer<@Nullable Object, @Nullable Throwable> onComplete) {
    this.processes = processes;
    this.pid = pid;
    this.process = process;
    this.method = method;
    this.input = input;
    this.onComplete = onComplete;
  }

  String method() {
    return method;
  }

  long steps() {
    return steps;
  }

  State publicState() {
    return switch (state & ~WAKE) {
      case READY -> State.READY;
      case RUNNING -> State.RUNNING;
      case BLOCKED -> State.BLOCKED;
      case IDLE -> State.IDLE;
      default -> State.COMPLETE;
    };
  }

  // ---- events, any thread ----

  /// Queues an event that its sender has claimed, and wakes the process; false if it has ended. An event that came too
  /// late for that to be known before stays claimed: the ending process may be looking at it.
  ///
  /// @throws java.util.concurrent.RejectedExecutionException if `limit` events wait already
  public boolean post(Event event, int limit) {
    if ((state & ~WAKE) == COMPLETE) {
      event.leaveQueue();
      return false;
    }
    if (!events.push(event, limit)) {
      event.leaveQueue();
      throw new java.util.concurrent.RejectedExecutionException(
          "could not send to process " + pid + ": " + limit + " events wait, processQueueLimit");
    }
    return wake();
  }

  private boolean wake() {
    for (; ; ) {
      int s = state;
      switch (s & ~WAKE) {
        case READY -> {
          return true;
        }
        case RUNNING -> {
          if ((s & WAKE) != 0
              || Platform.mutated(Mutation.PROCESS_WITHOUT_WAKE)
              || STATE.compareAndSet(this, s, s | WAKE)) {
            return true;
          }
        }
        case COMPLETE -> {
          return false;
        }
        default -> {
          if (STATE.compareAndSet(this, s, READY)) {
            processes.wake(this, Objects.requireNonNull(job));
            return true;
          }
        }
      }
    }
  }

  // ---- steps ----

  @Override
  public @Nullable Task run(TaskContext context) throws Exception {
    if (Checks.ON) {
      int before = (int) STATE.getAndSet(this, RUNNING);
      Checks.that((before & ~WAKE) == READY, "I9: one step at a time");
    } else {
      STATE.setVolatile(this, RUNNING);
    }
    Step next;
    try {
      next = step(context);
    } catch (Throwable t) {
      end(context.job());
      throw t;
    }
    if (next == Step.DONE) {
      end(context.job());
      return null;
    }
    Platform.point(Point.PROCESS_STEP);
    int to = next == Step.CONTINUE ? READY : next == Step.YIELD ? BLOCKED : IDLE;
    for (; ; ) {
      int s = state;
      boolean again = to == READY || (s & WAKE) != 0;
      if (STATE.compareAndSet(this, s, again ? READY : to)) {
        // From here on another worker may have it, unless this one queues it.
        return again ? context.resubmit(this) : null;
      }
    }
  }

  private Step step(TaskContext context) throws Exception {
    Process running = Objects.requireNonNull(process);
    if (!entered) {
      entered = true;
      job = context.job();
      hold = context.job().hold();
      processes.onCancel(context.job(), this::wake);
      Object given = input;
      input = null;
      running.init(this, method, given);
    }
    processes.countStep(context);
    STEPS.setOpaque(this, steps + 1); // one writer at a time
    events.receive();
    Step next = Objects.requireNonNull(running.step(events, this), "result of step");
    if (!yielded.isEmpty()) {
      for (Yielded one : yielded) {
        processes.dispatch(one.command(), one.tag(), new Completion(this, one.tag()));
      }
      yielded.clear();
    }
    return next;
  }

  @Override
  public void discarded(Job its) {
    end(its);
  }

  private void end(Job its) {
    int before = (int) STATE.getAndSet(this, COMPLETE);
    if (Checks.ON) {
      Checks.that((before & ~WAKE) != COMPLETE, "I9: one close");
    }
    Process ended = Objects.requireNonNull(process);
    process = null;
    input = null;
    yielded.clear();
    processes.remove(pid, events.clear());
    try {
      ended.close();
    } catch (Throwable t) {
      processes.fail(its, t);
    }
    if (hold != null) {
      hold.close();
      hold = null;
    }
  }

  /// In the job's teardown.
  void ended(Job its) {
    processes.countEnd(its);
    if (onComplete != null) {
      onComplete.accept(its.failure() == null ? result : null, its.failure());
    }
  }

  // ---- StepOutput, ProcessContext ----

  @Override
  public void yieldCommand(Object command, long tag) {
    yielded.add(new Yielded(Objects.requireNonNull(command, "command"), tag));
  }

  @Override
  public void result(@Nullable Object value) {
    result = value;
  }

  @Override
  public Pid pid() {
    return pid;
  }

  @Override
  public Processes processes() {
    return processes;
  }

  @Override
  public Job job() {
    return Objects.requireNonNull(job, "job");
  }
}
