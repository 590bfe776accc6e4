package dev.kakehashi.applications.process;

import dev.kakehashi.application.ApplicationProcess;
import dev.kakehashi.application.ApplicationProcess.Event;
import dev.kakehashi.application.Definitions;
import dev.kakehashi.applications.call.WorkCalls;
import dev.kakehashi.applications.watch.MemberCounts;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Timer;
import dev.kakehashi.scheduler.process.Events;
import dev.kakehashi.scheduler.process.Pid;
import dev.kakehashi.scheduler.process.Process;
import dev.kakehashi.scheduler.process.ProcessContext;
import dev.kakehashi.scheduler.process.StepOutput;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A process of users' code as one of the scheduler. Its methods are called on workers, one at a time; [#known] and [#kill] by any thread.
final class ProcessAdapter implements Process, ApplicationProcess.Context {
  private static final ThreadLocal<@Nullable StepSlot> SLOT = new ThreadLocal<>();

  private final VersionProcesses version;
  private final String name;
  private final MemberCounts counts;
  private final Set<Timer> timers = ConcurrentHashMap.newKeySet(0);
  private @Nullable ApplicationProcess process;
  private @Nullable Events events;
  private volatile @Nullable Job job;
  private long pid;
  private boolean isEnding;
  private boolean hasBegun;
  private volatile boolean hasEnded;

  ProcessAdapter(
      VersionProcesses version, String name, ApplicationProcess process, MemberCounts counts) {
    this.version = version;
    this.name = name;
    this.process = process;
    this.counts = counts;
  }

  /// From 1 on: 0 is no process.
  static long number(Pid pid) {
    return ((long) pid.slot() << Integer.SIZE | Integer.toUnsignedLong(pid.generation())) + 1;
  }

  static Pid pid(long number) {
    long place = number - 1;
    return new Pid((int) (place >>> Integer.SIZE), (int) place);
  }

  String name() {
    return name;
  }

  /// Adds the process to its version: the spawner knows its number, also before its first step.
  void known(long itsPid) {
    version.add(itsPid, this);
    if (hasEnded) {
      version.remove(itsPid);
    }
  }

  void kill() {
    Job its = job;
    if (its != null) {
      its.cancel();
    }
  }

  // ---- of the scheduler ----

  @Override
  public void init(ProcessContext context, String method, @Nullable Object input) {
    pid = number(context.pid());
    job = context.job();
    version.add(pid, this);
    counts.begin();
    hasBegun = true;
    StepSlot slot = begin();
    try {
      Objects.requireNonNull(process).init(this, input);
    } catch (Throwable t) {
      failed(t);
    } finally {
      slot.end();
    }
  }

  @Override
  public Step step(Events arrived, StepOutput output) {
    ApplicationProcess its = process;
    if (its == null) {
      return Step.DONE;
    }
    events = arrived;
    StepSlot slot = begin();
    ApplicationProcess.Next next;
    try {
      next = Objects.requireNonNull(its.step(this), "what a step wants next");
    } catch (Throwable t) {
      failed(t);
      return Step.DONE;
    } finally {
      events = null;
      slot.end();
    }
    return switch (next) {
      case CONTINUE -> Step.CONTINUE;
      case WAIT -> arrived.isEmpty() ? Step.IDLE : Step.CONTINUE;
      case END -> Step.DONE;
    };
  }

  @Override
  public void close() {
    hasEnded = true;
    timers.forEach(Timer::cancel);
    ApplicationProcess its = process;
    process = null;
    if (its != null) {
      end(its);
    }
    if (hasBegun) {
      counts.end(0);
    }
    version.remove(pid);
  }

  private StepSlot begin() {
    StepSlot slot = SLOT.get();
    if (slot == null || slot.watch() != version.watch()) {
      slot = new StepSlot(version.watch());
      SLOT.set(slot);
    }
    slot.begin(
        "process " + name,
        TimeUnit.MILLISECONDS.toNanos(version.environment().options().get().functionTimeMillis()));
    return slot;
  }

  private void end(ApplicationProcess its) {
    StepSlot slot = begin();
    try {
      its.close();
    } catch (Throwable t) {
      counts.fail();
      version.failures().report("process " + name, 0, t);
    } finally {
      slot.end();
    }
  }

  private void failed(Throwable thrown) {
    counts.fail();
    version.failures().report("process " + name, 0, thrown);
    ApplicationProcess its = process;
    process = null;
    if (its != null) {
      end(its);
    }
  }

  // ---- of users' code ----

  @Override
  public long pid() {
    return pid;
  }

  @Override
  public @Nullable Event receive() {
    Events arrived = events;
    dev.kakehashi.scheduler.process.Event event = arrived == null ? null : arrived.poll();
    if (event == null) {
      return null;
    }
    if (event.kind() == dev.kakehashi.scheduler.process.Event.Kind.CANCEL) {
      isEnding = true;
      return Event.cancel();
    }
    return (Event) Objects.requireNonNull(event.data());
  }

  @Override
  public boolean isEnding() {
    return isEnding || version.isEnding();
  }

  @Override
  public boolean send(long to, long tag, Object message) {
    return version.send(to, Event.data(tag, message));
  }

  @Override
  public long spawn(String other, @Nullable Object argument) {
    return version.spawn(other, argument);
  }

  @Override
  public void after(Duration time, long tag, Object message) {
    Event its = Event.data(tag, message);
    Alarm alarm = new Alarm();
    Timer timer =
        version
            .scheduler()
            .after(
                time,
                context -> {
                  Timer own = alarm.timer;
                  if (own != null) {
                    timers.remove(own);
                  }
                  alarm.hasFired = true;
                  boolean ignored = version.send(pid, its); // it may have ended
                  return null;
                });
    timers.add(timer);
    alarm.timer = timer;
    if (alarm.hasFired) {
      timers.remove(timer);
    }
  }

  private static final class Alarm {
    volatile @Nullable Timer timer;
    volatile boolean hasFired;
  }

  @Override
  public void work(long tag, Definitions.Body<ApplicationProcess.Context, ?> body) {
    WorkCalls.start(
        version.environment(),
        "process " + name,
        version.owner(),
        counts,
        tag,
        call -> body.run(call, this),
        result -> version.send(pid, result));
  }
}
