package com.example.visits;

import dev.kakehashi.application.ApplicationProcess;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/// Adds visits up in memory and writes them ten times a second. All calls come one after the other, so its fields need no lock.
final class Counter implements ApplicationProcess {
  private static final Duration PAUSE = Duration.ofMillis(100);

  /// What comes when the pause is over.
  private enum Alarm {
    WRITE
  }

  private final Map<String, Long> hits = new HashMap<>();
  private boolean waiting;

  @Override
  public Next step(Context context) {
    for (Object message = context.receive(); message != null; message = context.receive()) {
      if (message instanceof String page) {
        hits.merge(page, 1L, Long::sum);
        if (!waiting) {
          context.after(PAUSE, Alarm.WRITE);
          waiting = true;
        }
      } else if (message == Alarm.WRITE) {
        waiting = false;
        write(context);
      }
    }
    if (context.isEnding()) {
      write(context);
      return Next.END;
    }
    return Next.WAIT;
  }

  /// A step must not wait, so a thread of the platform writes, in one transaction.
  private void write(Context context) {
    Map<String, Long> written = Map.copyOf(hits);
    hits.clear();
    context.work((call, own) -> {
      written.forEach((page, count) -> call.execute(Visits.COUNT, page, count));
      return written.size();
    });
  }
}
