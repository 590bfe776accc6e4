package dev.kakehashi.scheduler.platform;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Keeps a worker's thread on one processor, by `sched_setaffinity(2)`: for `pinWorkers`.
@SuppressWarnings("restricted")
public // asked for before it is used
final class Pinning {
  private static final int THIS_THREAD = 0;

  private Pinning() {}

  /// Keeps the calling thread on processor `worker` of those the process may use, going round, as [Topology] takes it to be.
  ///
  /// @throws UnsupportedOperationException if the system or the JVM's options do not allow it; the worker reports that and
  ///     works on all processors
  public static void pin(int worker) {
    if (!System.getProperty("os.name").equals("Linux")) {
      throw new UnsupportedOperationException("pinWorkers needs Linux");
    }
    if (!Pinning.class.getModule().isNativeAccessEnabled()) {
      throw new UnsupportedOperationException("pinWorkers needs --enable-native-access");
    }
    try {
      List<Integer> allowed = Topology.allowed();
      setAffinity(allowed.get(worker % allowed.size()));
    } catch (IOException | NumberFormatException e) {
      throw new UnsupportedOperationException("pinWorkers finds no processors: " + e, e);
    }
  }

  private static void setAffinity(int processor) {
    Linker linker = Linker.nativeLinker();
    long words = processor / Long.SIZE + 1L;
    int failed;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(JAVA_LONG, words);
      mask.setAtIndex(JAVA_LONG, words - 1, 1L << processor); // the shift takes the low bits
      failed =
          (int)
              linker
                  .downcallHandle(
                      linker.defaultLookup().findOrThrow("sched_setaffinity"),
                      FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS))
                  .invokeExact(THIS_THREAD, words * Long.BYTES, mask);
    } catch (Throwable t) {
      throw new UnsupportedOperationException("pinWorkers: " + t, t);
    }
    if (failed != 0) {
      throw new UnsupportedOperationException(
          "pinWorkers: the system refuses to keep a thread on processor " + processor);
    }
  }
}
