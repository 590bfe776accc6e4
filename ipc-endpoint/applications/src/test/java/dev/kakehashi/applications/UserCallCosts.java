package dev.kakehashi.applications;

import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Prints what calls cost without an engine. Not a test.
final class UserCallCosts {
  private static final int CALLS = 200_000;

  private UserCallCosts() {}

  /// Ends by a volatile store, for a caller that spins.
  private static final class Spinning implements LoadedApplication.Listener {
    volatile boolean over;

    @Override
    public void row(@Nullable Object[] values) {}

    @Override
    public void done() {
      over = true;
    }

    @Override
    public void failed(EngineException reason) {
      over = true;
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    try (PlatformRig rig = new PlatformRig()) {
      LoadedApplication loaded =
          rig.system.load(
              rig.deploy(
                  UserJar.shop(
                          """
                          it.procedure("empty", Void.class, Void.class, (call, none) -> null).transaction(TransactionMode.NONE);
                          it.procedure("finds", Integer.class, Long.class, (call, n) -> {
                            TypedTable<Order> orders = call.table("orders", Order.class);
                            orders.put(new Order(1, "x", null));
                            long from = System.nanoTime();
                            for (int i = 0; i < n; i++) if (orders.find(1L).isEmpty()) throw new IllegalStateException();
                            return (System.nanoTime() - from) / n;
                          });
                          it.process("ring", Ring::new).autostart(false);
                          it.process("boss", Boss::new);
                          """,
                          """
                          record Order(long id, String customer, BigDecimal total) {}
                          static final int SIZE = 100_000;
                          static final class Ring implements ApplicationProcess {
                            long next;
                            public Next step(Context context) {
                              for (Event m = context.receive(); m != null; m = context.receive()) {
                                if (m.data() == null) return Next.END;
                                if (next == 0) next = (Long) m.data(); else context.send(next, m.data());
                              }
                              return Next.WAIT;
                            }
                          }
                          static final class Boss implements ApplicationProcess {
                            long from; int rounds; long first;
                            public Next step(Context context) {
                              if (first == 0) {
                                long[] pids = new long[SIZE];
                                for (int i = 0; i < SIZE; i++) pids[i] = context.spawn("ring", null);
                                for (int i = 0; i < SIZE; i++) context.send(pids[i], i + 1 < SIZE ? pids[i + 1] : context.pid());
                                first = pids[0];
                                from = System.nanoTime();
                                for (int i = 0; i < 100; i++) context.send(first, "token");
                                return Next.WAIT;
                              }
                              for (Event m = context.receive(); m != null; m = context.receive()) {
                                if (++rounds == 100) {
                                  System.out.println("message " + (System.nanoTime() - from) / (100L * SIZE) + " ns");
                                }
                              }
                              return Next.WAIT;
                            }
                          }
                          """)
                      .content()));
      long[] nanos = new long[CALLS];
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < CALLS; i++) {
          long from = System.nanoTime();
          Spinning end = new Spinning();
          rig.start(loaded, "empty", null, end);
          while (!end.over) {
            Thread.onSpinWait();
          }
          nanos[i] = System.nanoTime() - from;
        }
        Arrays.sort(nanos);
        System.out.println(
            "empty procedure p50 " + nanos[CALLS / 2] + " ns, p99 " + nanos[CALLS / 100 * 99]);
        System.out.println(
            "find " + rig.call(loaded, "finds", 1_000_000).succeeded().get(0)[0] + " ns");
      }
      TimeUnit.SECONDS.sleep(8);
    }
  }
}
