package dev.kakehashi.fuzz;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.rest.header.FieldException;
import dev.kakehashi.rest.problem.Problem;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;

/// Tells findings from refusals that the readers declare. Stateless.
public final class Verdict {
  /// Processor time that one input may take; a short input should take a thousandth of it.
  private static final long LIMIT_NANOS =
      TimeUnit.SECONDS.toNanos(Long.getLong("kakehashi.fuzz.cpuSeconds", 10));

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private Verdict() {}

  /// Gives an input to a target.
  ///
  /// @throws AssertionError a finding, with its cause
  public static void of(FuzzTarget target, byte[] input) {
    long start = THREADS.getCurrentThreadCpuTime();
    try {
      target.run(input);
    } catch (Throwable e) {
      if (!isRefusal(e)) {
        throw new AssertionError("finding: " + e, e);
      }
    }
    long nanos = THREADS.getCurrentThreadCpuTime() - start;
    if (nanos > LIMIT_NANOS) {
      throw new AssertionError(
          "finding: %d bytes took %d ms of a processor".formatted(input.length, nanos / 1_000_000));
    }
  }

  /// Whether something that was thrown is an answer that a client or user can use.
  public static boolean isRefusal(Throwable e) {
    return switch (e) {
      case EngineException engine -> engine.code() != ErrorCode.INTERNAL_ERROR;
      case Problem problem -> problem.status() < 500;
      case MalformedFrameException _, FieldException _ -> true;
      default -> false;
    };
  }
}
