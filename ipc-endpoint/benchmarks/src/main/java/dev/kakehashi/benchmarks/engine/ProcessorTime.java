package dev.kakehashi.benchmarks.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Working time of all processors of this machine, for any process. Time that other guests of its host took is not in it (`/proc/stat`,
/// proc(5)).
public final class ProcessorTime {
  private static final Path STAT = Path.of("/proc/stat");

  /// Counted columns of the first line: user, nice and system, and interrupts after idle and waiting, which are not counted.
  private static final List<Integer> WORKING = List.of(1, 2, 3, 6, 7);

  private static final double SECONDS_PER_TICK = 0.01;

  private ProcessorTime() {}

  /// @return seconds since the machine started, of all processors, in steps of 0.01
  public static double seconds() throws IOException {
    String[] fields;
    try (var lines = Files.lines(STAT)) {
      fields = lines.findFirst().orElseThrow().split(" +");
    }
    long ticks = 0;
    for (int field : WORKING) {
      ticks += Long.parseLong(fields[field]);
    }
    return ticks * SECONDS_PER_TICK;
  }
}
