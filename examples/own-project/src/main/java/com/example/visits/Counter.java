package com.example.visits;

import dev.kakehashi.application.ApplicationProcess;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/// Adds visits up in memory and writes them ten times a second. All calls come one after the other, so its fields need no lock.
final class Counter implements ApplicationProcess {
  private static final Duration PAUSE = Duration.ofMillis(100);

  /// Tag of the alarm after the pause. A page comes with tag 0.
  private static final long ALARM = 1;

  private final Map<String, Long> hits = new HashMap<>();
  private Map<String, Long> written = Map.of(); // on its way into the table
  private boolean waiting;
  private boolean ending;

  @Override
  public Next step(Context context) {
    for (Event event = context.receive(); event != null; event = context.receive()) {
      switch (event.type()) {
        case DATA -> {
          if (event.tag() == ALARM) {
            waiting = false;
            write(context);
          } else {
            add((String) event.data(), 1L);
            await(context);
          }
        }
        case END -> written = Map.of();
        case ERROR -> { // the transaction was rolled back; the log says why
          written.forEach(this::add);
          written = Map.of();
          await(context);
        }
        case CANCEL -> {
          ending = true;
          write(context);
        }
      }
    }
    return ending && written.isEmpty() ? Next.END : Next.WAIT;
  }

  private void add(String page, long count) {
    hits.merge(page, count, Long::sum);
  }

  private void await(Context context) {
    if (!waiting && !ending) {
      context.after(PAUSE, ALARM, "write");
      waiting = true;
    }
  }

  /// A step must not wait, so a thread of the platform writes, in one transaction.
  private void write(Context context) {
    if (!written.isEmpty()) {
      await(context); // one after the other
      return;
    }
    written = Map.copyOf(hits);
    hits.clear();
    Map<String, Long> now = written;
    context.work((call, own) -> {
      now.forEach((page, count) -> call.execute(Visits.COUNT, page, count));
      return now.size();
    });
  }
}
