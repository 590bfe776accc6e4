package dev.kakehashi.scheduler.platform;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/// Which processors are near each other: they share a core, a last-level cache, a socket, or none of these. Immutable.
///
/// A worker that steals asks the nearest ones first, because what it takes lies in their caches. Worker `i` is taken
/// to run on processor `i` of those the process may use, going round when there are more workers. That is a
/// fact only with `pinWorkers`, or where `onWorkerStart` pins the threads; otherwise it is a guess that costs nothing.
public final class Topology {
  /// How far one processor is from another.
  public enum Distance {
    /// The same core, as two hardware threads of it.
    CORE,
    /// The same last-level cache.
    CACHE,
    /// The same socket.
    SOCKET,
    /// Another socket.
    MACHINE
  }

  /// A processor's place; equal numbers share. Numbers of cores and caches need be unique in their socket only.
  public record Processor(int core, int cache, int socket) {}

  private static final Path SYSTEM = Path.of("/sys/devices/system/cpu");
  private static final Path PROCESS = Path.of("/proc/self/status");
  private static final String ALLOWED = "Cpus_allowed_list:";
  private static final int MAX_CACHE_LEVELS = 10;

  private final List<Processor> processors;

  private Topology(List<Processor> processors) {
    this.processors = List.copyOf(processors);
  }

  /// The given processors, in the order in which workers use them.
  public static Topology of(List<Processor> processors) {
    if (processors.isEmpty()) {
      throw new IllegalArgumentException("a topology has at least one processor");
    }
    return new Topology(processors);
  }

  /// All processors equally near: nothing is known, or nothing is to be used.
  public static Topology flat() {
    return new Topology(List.of());
  }

  private static final class Machine {
    static final Topology TOPOLOGY = read(SYSTEM, PROCESS);
  }

  /// This machine's, as Linux describes it, read once; flat where it does not.
  public static Topology machine() {
    return Machine.TOPOLOGY;
  }

  /// As [#machine()] from a description elsewhere.
  ///
  /// @param system the directory with `cpu0/topology` and so on
  /// @param process the file with the line `Cpus_allowed_list:`
  public static Topology read(Path system, Path process) {
    try {
      List<Processor> found = new ArrayList<>();
      for (int cpu : allowed(process)) {
        Path directory = system.resolve("cpu" + cpu);
        int socket = number(directory.resolve("topology/physical_package_id"));
        int core = number(directory.resolve("topology/core_id"));
        found.add(new Processor(core, lastLevelCache(directory, socket), socket));
      }
      return new Topology(found);
    } catch (IOException | NumberFormatException e) {
      return flat(); // another operating system, or a container that hides it: there is nothing to
      // go by
    }
  }

  /// The numbers of the processors that this process may use, in ascending order.
  public static List<Integer> allowed() throws IOException {
    return allowed(PROCESS);
  }

  private static List<Integer> allowed(Path process) throws IOException {
    for (String line : Files.readAllLines(process)) {
      if (line.startsWith(ALLOWED)) {
        return parseList(line.substring(ALLOWED.length()));
      }
    }
    throw new IOException(process + " has no line " + ALLOWED);
  }

  // As "0-3,8,10-11".
  private static List<Integer> parseList(String text) {
    List<Integer> numbers = new ArrayList<>();
    for (String range : text.strip().split(",", -1)) {
      String[] ends = range.strip().split("-", -1);
      int last = Integer.parseInt(ends[ends.length - 1]);
      for (int n = Integer.parseInt(ends[0]); n <= last; n++) {
        numbers.add(n);
      }
    }
    return numbers;
  }

  // The first processor that shares the cache names it. Without a description the socket's is
  // taken.
  private static int lastLevelCache(Path cpu, int socket) throws IOException {
    int first = -1 - socket;
    for (int level = 0; level < MAX_CACHE_LEVELS; level++) {
      Path shared = cpu.resolve("cache/index" + level + "/shared_cpu_list");
      if (!Files.exists(shared)) {
        break;
      }
      first = parseList(Files.readString(shared)).getFirst();
    }
    return first;
  }

  private static int number(Path file) throws IOException {
    return Integer.parseInt(Files.readString(file).strip());
  }

  /// Number of processors; 0 if nothing is known.
  public int size() {
    return processors.size();
  }

  /// How far two workers are from each other.
  public Distance between(int worker, int other) {
    if (processors.isEmpty()) {
      return Distance.MACHINE;
    }
    Processor one = processors.get(worker % processors.size());
    Processor two = processors.get(other % processors.size());
    if (one.socket != two.socket) {
      return Distance.MACHINE;
    }
    if (one.core == two.core) {
      return Distance.CORE;
    }
    return one.cache == two.cache ? Distance.CACHE : Distance.SOCKET;
  }

  /// The other workers, nearest first, grouped by distance; within a group in ascending order.
  public int[][] othersByDistance(int worker, int workers) {
    return Arrays.stream(Distance.values())
        .map(distance ->
            IntStream.range(0, workers)
                .filter(other -> other != worker && between(worker, other) == distance)
                .toArray())
        .filter(group -> group.length > 0)
        .toArray(int[][]::new);
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%d processors, %d sockets, %d last-level caches, %d cores",
        processors.size(),
        processors.stream().map(Processor::socket).distinct().count(),
        processors.stream().map(p -> List.of(p.socket, p.cache)).distinct().count(),
        processors.stream().map(p -> List.of(p.socket, p.core)).distinct().count());
  }
}
