package dev.kakehashi.benchmarks.applications.code;

import dev.kakehashi.application.ApplicationProcess;
import java.util.Objects;

/// Sends what it gets to the next one, whose address is its first message.
final class RingMember implements ApplicationProcess {
  private long next;

  @Override
  public Next step(Context context) {
    for (Event event = context.receive(); event != null; event = context.receive()) {
      if (event.type() != Event.Type.DATA) {
        return Next.END;
      }
      Object message = Objects.requireNonNull(event.data());
      if (next == 0) {
        next = (Long) message;
      } else if (!context.send(next, message)) {
        return Next.END;
      }
    }
    return Next.WAIT;
  }
}
