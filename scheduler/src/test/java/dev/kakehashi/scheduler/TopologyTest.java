package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.SchedulerConfig.VictimOrder;
import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Topology;
import dev.kakehashi.scheduler.platform.Topology.Distance;
import dev.kakehashi.scheduler.platform.Topology.Processor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Which workers are near, and that thieves ask them first.
@Timeout(60)
class TopologyTest {
  @Test
  void shouldKeepEachWorkerOnItsProcessor() throws Exception {
    List<Integer> allowed = Topology.allowed();
    ConcurrentHashMap<Integer, String> listed = new ConcurrentHashMap<>();
    try (TaskScheduler scheduler =
        TaskScheduler.start(
            SchedulerConfig.builder()
                .workers(2)
                .set(Parameter.PIN_WORKERS, 1)
                .onWorkerStart(worker -> {
                  try (var lines = Files.lines(Path.of("/proc/thread-self/status"))) {
                    lines
                        .filter(line -> line.startsWith("Cpus_allowed_list:"))
                        .forEach(line ->
                            listed.put(worker, line.substring(line.indexOf(':') + 1).strip()));
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                })
                .build())) {
      CountDownLatch both = new CountDownLatch(2);
      for (int i = 0; i < 2; i++) {
        scheduler.execute(context -> {
          both.countDown();
          both.await(); // so that both workers have started
          return null;
        });
      }
      assertTrue(both.await(30, TimeUnit.SECONDS));
    }
    for (int worker = 0; worker < 2; worker++) {
      assertEquals(
          Integer.toString(allowed.get(worker % allowed.size())),
          listed.get(worker),
          listed::toString);
    }
  }

  /// Two sockets with two caches of two cores with two threads each; the second threads come last, as Linux has it.
  private static List<Processor> sixteen() {
    List<Processor> processors = new ArrayList<>();
    for (int thread = 0; thread < 2; thread++) {
      for (int core = 0; core < 8; core++) {
        processors.add(new Processor(core % 4, core / 2, core / 4));
      }
    }
    return processors;
  }

  @Test
  void shouldGroupOthersByDistance() {
    Topology topology = Topology.of(sixteen());
    assertEquals(Distance.CORE, topology.between(0, 8));
    assertEquals(Distance.CACHE, topology.between(0, 1));
    assertEquals(Distance.SOCKET, topology.between(0, 2));
    assertEquals(Distance.MACHINE, topology.between(0, 4), "the same core number elsewhere");
    assertArrayEquals(
        new int[][] {{8}, {1, 9}, {2, 3, 10, 11}, {4, 5, 6, 7, 12, 13, 14, 15}},
        topology.othersByDistance(0, 16));
    assertArrayEquals(
        new int[][] {{1, 2}}, Topology.flat().othersByDistance(0, 3), "one group: no preference");
    assertEquals(Distance.CORE, topology.between(0, 16), "more workers than processors go round");
    assertThrows(IllegalArgumentException.class, () -> Topology.of(List.of()));
  }

  @ParameterizedTest
  @EnumSource
  void shouldStealFromTheNearestFirst(VictimOrder order) {
    assertEquals(List.of(8, 1, 9, 2, 3, 10, 11), victims(order, 1).subList(0, 7));
    assertEquals(
        List.of(4, 5, 6, 7, 12, 13, 14, 15), sorted(victims(order, 1).subList(7, 15)), "all asked");
    assertEquals(15, victims(order, 0).size(), "without locality all are asked, too");
  }

  /// Whom worker 0 takes from when every other one has a task, in that order within sorted groups.
  private static List<Integer> victims(VictimOrder order, int locality) {
    TaskScheduler scheduler =
        TaskScheduler.unstarted(
            SchedulerConfig.builder()
                .workers(16)
                .victimOrder(order)
                .topology(Topology.of(sixteen()))
                .set(Parameter.VICTIM_LOCALITY, locality)
                .build());
    for (int i = 1; i < 16; i++) {
      int number = i;
      scheduler.workers()[i].deque.push(new Numbered(number), scheduler.jobless());
    }
    Victims victims = new Victims(scheduler, new Counters(), 0);
    @Nullable Object[] batch = new @Nullable Object[2];
    List<Integer> from = new ArrayList<>();
    for (int looks = 0; looks < 100; looks++) { // a single task is taken after some looks
      if (victims.steal(batch, 1) > 0) {
        from.add(((Numbered) java.util.Objects.requireNonNull(batch[0])).number());
      }
    }
    if (locality == 1) { // within a group the order is free
      int[] ends = {1, 3, 7, 15};
      int start = 0;
      for (int end : ends) {
        from.subList(start, end).sort(null);
        start = end;
      }
    }
    return from;
  }

  private static List<Integer> sorted(List<Integer> numbers) {
    return numbers.stream().sorted().toList();
  }

  private record Numbered(int number) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      return null;
    }
  }

  @Test
  void shouldReadWhatLinuxSays(@TempDir Path directory) throws IOException {
    // Processors 0 and 1 are threads of one core, 2 is another core of that cache, 5 is elsewhere;
    // 3 and 4 are not ours.
    describe(directory, 0, 0, 0, "0-2");
    describe(directory, 1, 0, 0, "0-2");
    describe(directory, 2, 1, 0, "0-2");
    describe(directory, 5, 0, 1, "3-5");
    Path status = directory.resolve("status");
    Files.writeString(status, "Name:\tjava\nCpus_allowed_list:\t0-2,5\n");
    Topology topology = Topology.read(directory, status);
    assertEquals(4, topology.size());
    assertEquals(Distance.CORE, topology.between(0, 1));
    assertEquals(Distance.CACHE, topology.between(0, 2));
    assertEquals(Distance.MACHINE, topology.between(0, 3));
    assertEquals("4 processors, 2 sockets, 2 last-level caches, 3 cores", topology.toString());
  }

  private static void describe(Path system, int cpu, int core, int socket, String cache)
      throws IOException {
    Path topology = Files.createDirectories(system.resolve("cpu" + cpu + "/topology"));
    Files.writeString(topology.resolve("core_id"), core + "\n");
    Files.writeString(topology.resolve("physical_package_id"), socket + "\n");
    Path first = Files.createDirectories(system.resolve("cpu" + cpu + "/cache/index0"));
    Files.writeString(first.resolve("shared_cpu_list"), cpu + "\n");
    Path last = Files.createDirectories(system.resolve("cpu" + cpu + "/cache/index1"));
    Files.writeString(last.resolve("shared_cpu_list"), cache + "\n");
  }

  @Test
  void shouldBeFlatWhereNothingIsKnown(@TempDir Path directory) throws IOException {
    Path status = directory.resolve("status");
    assertEquals(0, Topology.read(directory, status).size(), "no such file");
    Files.writeString(status, "Cpus_allowed_list:\t0\n");
    assertEquals(0, Topology.read(directory, status).size(), "no description");
    Files.writeString(status, "Cpus_allowed_list:\twhat\n");
    assertEquals(0, Topology.read(directory, status).size(), "nonsense");
    Files.writeString(status, "Name:\tjava\n");
    assertEquals(0, Topology.read(directory, status).size(), "no such line");
  }

  @Test
  void shouldRunOnThisMachineAndOnAnother() throws Exception {
    for (Topology topology : List.of(Topology.machine(), Topology.of(sixteen()), Topology.flat())) {
      try (TaskScheduler scheduler =
          TaskScheduler.start(SchedulerConfig.builder().workers(3).topology(topology).build())) {
        Job job =
            scheduler.submit(context -> {
              for (int i = 0; i < 1000; i++) {
                context.spawn(child -> null);
              }
              return null;
            });
        assertTrue(job.await(Duration.ofSeconds(50)), () -> scheduler.metrics().toJson());
        assertEquals(1001, job.progress().finished());
      }
    }
  }
}
