package dev.kakehashi.benchmarks.applications.code;

import dev.kakehashi.application.ApplicationProcess;

/// Makes a ring of processes, and lets messages go round.
final class RingHead implements ApplicationProcess {
  private static final int SIZE = 100_000;

  private long first;
  private long expected;
  private long arrived;
  private long beganNanos;

  @Override
  public Next step(Context context) {
    for (Event event = context.receive(); event != null; event = context.receive()) {
      if (event.data() instanceof Long wanted) {
        begin(context, wanted);
      } else {
        arrived++;
        if (arrived == expected) {
          MeasuredCode.ROUND_NANOS.set(System.nanoTime() - beganNanos);
        }
      }
    }
    return Next.WAIT;
  }

  private void begin(Context context, long messages) {
    if (first == 0) {
      long next = context.pid();
      for (int i = 0; i < SIZE; i++) {
        long made = context.spawn("ring_member", null);
        send(context, made, next);
        next = made;
      }
      first = next;
    }
    expected = messages;
    arrived = 0;
    beganNanos = System.nanoTime();
    for (long i = 0; i < messages; i++) {
      send(context, first, "round");
    }
  }

  private static void send(Context context, long pid, Object message) {
    if (!context.send(pid, message)) {
      throw new IllegalStateException("process " + pid + " of the ring has ended");
    }
  }
}
