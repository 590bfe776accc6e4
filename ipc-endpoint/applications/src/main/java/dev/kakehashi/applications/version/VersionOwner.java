package dev.kakehashi.applications.version;

import dev.kakehashi.applications.call.HereCalls;
import dev.kakehashi.applications.watch.ApplicationJournal;
import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.Map;

/// Environment of versions. Thread-safe.
public interface VersionOwner {
  ApplicationHost host();

  TaskScheduler scheduler();

  CallWatch watch();

  /// Runs short calls where their requests were read.
  HereCalls here();

  ApplicationJournal journal();

  /// Functions that must not be used any more: `schema.name` and why.
  Map<String, String> disabled();

  /// A loader was made; counted until it is collected.
  void made(ClassLoader loader);

  /// The code of a retired version was let go.
  void drained(LoadedVersion version);
}
