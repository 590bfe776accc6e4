package dev.kakehashi.applications.process;

import dev.kakehashi.application.ApplicationProcess;
import dev.kakehashi.application.ApplicationProcess.Event;
import dev.kakehashi.applications.call.CallEnvironment;
import dev.kakehashi.applications.call.ProcessMessages;
import dev.kakehashi.applications.define.ProcessMember;
import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.applications.watch.MemberCounts;
import dev.kakehashi.applications.watch.UserFailures;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.scheduler.process.Processes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The processes of one version. Thread-safe.
public final class VersionProcesses implements ProcessMessages {
  private final TaskScheduler scheduler;
  private final Processes processes;
  private final String owner;
  private final UserFailures failures;
  private final CallWatch watch;
  private final Supplier<CallEnvironment> environment;
  private final Function<String, MemberCounts> counts;
  private final Runnable changed;
  private final Map<String, ProcessMember> members = new ConcurrentHashMap<>();
  private final Map<Long, ProcessAdapter> live = new ConcurrentHashMap<>();
  private volatile boolean isEnding;

  /// @param owner whose rights work has
  /// @param environment of calls, for work
  /// @param counts of a member
  /// @param changed is run when a process has ended
  public VersionProcesses(
      TaskScheduler scheduler,
      String owner,
      UserFailures failures,
      CallWatch watch,
      Supplier<CallEnvironment> environment,
      Function<String, MemberCounts> counts,
      Runnable changed) {
    this.scheduler = scheduler;
    this.processes = Processes.of(scheduler);
    this.owner = owner;
    this.failures = failures;
    this.watch = watch;
    this.environment = environment;
    this.counts = counts;
    this.changed = changed;
  }

  public void define(List<ProcessMember> defined) {
    defined.forEach(member -> members.put(member.signature().name(), member));
  }

  /// Begins those that begin with the version.
  public void begin() {
    for (ProcessMember member : members.values()) {
      if (member.signature().autostart()) {
        spawn(member.signature().name(), null);
      }
    }
  }

  /// @throws IllegalArgumentException there is none of this name
  /// @throws IllegalStateException the version ends
  long spawn(String name, @Nullable Object argument) {
    ProcessMember member = members.get(name);
    if (member == null) {
      throw new IllegalArgumentException("the application has no process \"" + name + "\"");
    }
    if (isEnding) {
      throw new IllegalStateException("the version ends, and begins no processes");
    }
    ApplicationProcess process =
        java.util.Objects.requireNonNull(member.maker().get(), "process of its maker");
    ProcessAdapter adapter =
        new ProcessAdapter(this, name, process, counts.apply("process " + name));
    long pid = ProcessAdapter.number(processes.spawn(adapter, "process " + name, argument));
    adapter.known(pid);
    if (isEnding) {
      processes.cancel(ProcessAdapter.pid(pid));
    }
    return pid;
  }

  /// @return false: it has ended, or never existed
  @Override
  public boolean send(long pid, Event event) {
    return live.containsKey(pid) && processes.send(ProcessAdapter.pid(pid), event);
  }

  @Override
  public List<Long> pids(String name) {
    List<Long> found = new ArrayList<>();
    live.forEach((pid, adapter) -> {
      if (adapter.name().equals(name)) {
        found.add(pid);
      }
    });
    return found;
  }

  public int count() {
    return live.size();
  }

  /// Asks all to end.
  public void end() {
    isEnding = true;
    live.keySet().forEach(pid -> processes.cancel(ProcessAdapter.pid(pid)));
  }

  /// Ends all without another step.
  public void kill() {
    isEnding = true;
    live.values().forEach(ProcessAdapter::kill);
  }

  // ---- for its processes ----

  void add(long pid, ProcessAdapter adapter) {
    live.put(pid, adapter);
  }

  void remove(long pid) {
    if (live.remove(pid) != null) {
      changed.run();
    }
  }

  boolean isEnding() {
    return isEnding;
  }

  TaskScheduler scheduler() {
    return scheduler;
  }

  UserFailures failures() {
    return failures;
  }

  CallWatch watch() {
    return watch;
  }

  CallEnvironment environment() {
    return environment.get();
  }

  String owner() {
    return owner;
  }
}
