package dev.kakehashi.benchmarks.applications.code;

import dev.kakehashi.application.ApplicationProcess;

/// Sends what it gets to the next one, whose address is its first message.
final class RingMember implements ApplicationProcess {
  private long next;
  private boolean knowsNext; // a process may have the address 0

  @Override
  public Next step(Context context) {
    for (Object message = context.receive(); message != null; message = context.receive()) {
      if (!knowsNext) {
        next = (Long) message;
        knowsNext = true;
      } else if (!context.send(next, message)) {
        return Next.END;
      }
    }
    return Next.WAIT;
  }
}
