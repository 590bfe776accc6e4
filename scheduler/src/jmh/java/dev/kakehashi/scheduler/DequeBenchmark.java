package dev.kakehashi.scheduler;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/// The deque without a scheduler: what one task costs its owner, and the same with a thief at the other end.
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class DequeBenchmark {
  private static final Task TASK = context -> null;

  /// One owner's deque; in a group the thief works on the same one.
  @State(Scope.Group)
  public static class Shared {
    private final StealHalfDeque deque = new StealHalfDeque(4096, 0);
    private final @Nullable Object[] batch = new @Nullable Object[64];
  }

  /// One owner's deque, undisturbed.
  @State(Scope.Thread)
  public static class Own {
    private final StealHalfDeque deque = new StealHalfDeque(4096, 0);
    private final @Nullable Object[] batch = new @Nullable Object[64];
  }

  /// A push and the pop of the same task.
  @Benchmark
  public @Nullable Task pushPop(Own own) {
    own.deque.push(TASK, null);
    return own.deque.popNewest();
  }

  /// As [#pushPop], from the old end.
  @Benchmark
  public @Nullable Task pushPopOldest(Own own) {
    own.deque.push(TASK, null);
    return own.deque.popOldest();
  }

  /// 32 pushes and one claim of half of them, and so on until none is left: per round of 32.
  @Benchmark
  public int pushAndStealHalf(Own own) {
    for (int i = 0; i < 32; i++) {
      own.deque.push(TASK, null);
    }
    int claims = 0;
    while (own.deque.stealHalf(own.batch, 32, 1) > 0) {
      claims++;
    }
    return claims;
  }

  /// The owner's push and pop while [#thief] takes what it can.
  @Benchmark
  @Group("contended")
  public @Nullable Task owner(Shared shared) {
    shared.deque.push(TASK, null);
    shared.deque.push(TASK, null);
    return shared.deque.popNewest();
  }

  /// Claims of half.
  @Benchmark
  @Group("contended")
  public int thief(Shared shared) {
    return shared.deque.stealHalf(shared.batch, 32, 1);
  }
}
