package dev.kakehashi.benchmarks.rest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/// Processor time and memory of processes (`/proc`, proc(5)).
public final class ServerProcesses {
  private static final double SECONDS_PER_TICK = 0.01;

  /// Behind the name: state, parent, … user time, system time.
  private static final int PARENT = 1;

  private static final int USER_TICKS = 11;
  private static final int SYSTEM_TICKS = 12;

  private ServerProcesses() {}

  /// Processor time of a process, in seconds, in steps of 0.01.
  public static double seconds(long pid) throws IOException {
    return seconds(fields(pid));
  }

  private static double seconds(String[] fields) {
    return (Long.parseLong(fields[USER_TICKS]) + Long.parseLong(fields[SYSTEM_TICKS]))
        * SECONDS_PER_TICK;
  }

  /// Processor time of a process and of the children that it has now.
  static double secondsWithChildren(long pid) throws IOException {
    double sum = seconds(pid);
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      for (Path each : (Iterable<Path>) all::iterator) {
        String name = each.getFileName().toString();
        if (name.chars().allMatch(c -> c >= '0' && c <= '9')) {
          sum += ofChild(Long.parseLong(name), pid);
        }
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    return sum;
  }

  private static double ofChild(long pid, long parent) throws IOException {
    try {
      String[] fields = fields(pid);
      return Long.parseLong(fields[PARENT]) == parent ? seconds(fields) : 0;
    } catch (NoSuchFileException e) {
      // It has ended since it was listed.
      return 0;
    }
  }

  private static String[] fields(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
  }

  /// Memory of a process that is resident, in bytes.
  static long residentBytes(long pid) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
      String line = lines.filter(each -> each.startsWith("VmRSS:")).findFirst().orElseThrow();
      return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
    }
  }
}
