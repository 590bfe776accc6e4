package dev.kakehashi.applications.call;

import dev.kakehashi.application.ApplicationProcess.Event;
import java.util.List;

/// Operations of a call on the processes of its version. Thread-safe.
public interface ProcessMessages {
  /// @return false: there is no such process, or not any more
  boolean send(long pid, Event event);

  /// Numbers of the live processes of a name.
  List<Long> pids(String name);
}
