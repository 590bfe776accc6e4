package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.testing.disk.DiskTrace;
import dev.kakehashi.engine.testing.disk.PowerLoss;
import dev.kakehashi.engine.testing.disk.SimulatedDisk;
import dev.kakehashi.engine.testing.disk.TracedProcess;
import dev.kakehashi.engine.testing.disk.TracedProcess.Kill;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The power fails while [PowerLossProgram] runs: whatever of what was not synchronised the disk has, everything that was acknowledged is
/// there, and transactions are whole.
///
/// The program's changes of the disk are written down once. For each point of the trace the disk is made as it may be, and the store is
/// opened.
@Timeout(7200)
final class StorePowerLossTest {
  /// `-Dkakehashi.powerLosses=10000` makes hours of it.
  private static final int POINTS = Integer.getInteger("kakehashi.powerLosses", 30);

  /// A trace of an earlier run, whose points are tried again.
  private static final @Nullable String TRACE = System.getProperty("kakehashi.powerTrace");

  /// A point of that trace, `event:seed`; without it all points are tried.
  private static final @Nullable String POINT = System.getProperty("kakehashi.powerPoint");

  /// One store of so many is opened twice.
  private static final int REOPENED = 4;

  private static final int POINTS_OF_TRACE = 500;

  /// So many are enough to notice that a kind of file is not synchronised.
  private static final int POINTS_TO_REFUTE = 150;

  /// Files before whose synchronisation the program is killed.
  private static final List<String> PARTS = List.of("/queues/", "/log/", "/rows/", "/store/");

  private static final int TRANSACTIONS = 40;
  private static final int FEW_TRANSACTIONS = 3;
  private static final int QUEUE_SEGMENT_BYTES = 4096;
  private static final String STORE = "data/store";

  @TempDir Path directory;

  private final long seed = Long.getLong("kakehashi.seed", System.nanoTime());
  private final Random random = new Random(seed);

  /// A moment at which the power fails.
  ///
  /// @param event the first that has not happened
  private record Point(int event, PowerLoss loss, String name) {}

  private static Point point(int event, long lossSeed) {
    PowerLoss loss = lossSeed == 0 ? PowerLoss.ofAll() : PowerLoss.of(lossSeed);
    return new Point(event, loss, event + ":" + lossSeed);
  }

  @Test
  void shouldHaveWhatWasAcknowledgedAfterALossOfPower() throws Exception {
    System.out.println("seed " + seed);
    if (TRACE != null) {
      DiskTrace trace = DiskTrace.read(Path.of(TRACE));
      List<Point> points = POINT == null ? points(trace, POINTS) : List.of(named(POINT));
      List<String> failures = fail(trace, path -> false, points, Integer.MAX_VALUE);
      assertEquals(List.of(), failures);
      return;
    }
    List<String> failures = new ArrayList<>();
    int left = POINTS;
    for (int t = 0; left > 0; t++) {
      Path work = Files.createDirectory(directory.resolve("trace" + t));
      int here = Math.min(left, POINTS_OF_TRACE);
      Path file = record(work, random.nextLong());
      DiskTrace trace = DiskTrace.read(file);
      List<String> found = fail(trace, path -> false, points(trace, here), 10);
      if (!found.isEmpty()) {
        Path kept =
            Files.createDirectories(Path.of("target", "power-loss")).resolve(seed + "-" + t);
        Files.copy(file, kept, StandardCopyOption.REPLACE_EXISTING);
        found.forEach(each ->
            failures.add(each + "\n  again: -Dkakehashi.powerTrace=" + kept.toAbsolutePath()));
      }
      left -= here;
      Directories.delete(work);
    }
    assertTrue(failures.isEmpty(), () -> String.join("\n", failures));
    System.out.println(POINTS + " losses of power");
  }

  /// The test can fail: a program that forgets a synchronisation, or a disk that does, is found.
  @Test
  void shouldFindAMissingSynchronisation() throws Exception {
    System.out.println("seed " + seed);
    Path work = Files.createDirectory(directory.resolve("trace"));
    DiskTrace trace = DiskTrace.read(record(work, random.nextLong()));
    for (Forgetting each : forgetting()) {
      List<Point> points = new ArrayList<>();
      for (Point point : points(trace, POINTS_TO_REFUTE)) {
        points.add(point(point.event(), 0));
      }
      List<String> found = fail(trace, each.ignoresSync(), points, 1);
      assertFalse(found.isEmpty(), each.name() + " was not noticed");
      System.out.println(each.name() + ": " + found.getFirst().lines().findFirst().orElse(""));
    }
  }

  private record Forgetting(String name, Predicate<String> ignoresSync) {}

  private static List<Forgetting> forgetting() {
    return List.of(
        new Forgetting("each fifth synchronisation of the log", every(5, ".*/log/.*[.]log")),
        new Forgetting("directory of the log", every(1, ".*/log/")),
        new Forgetting("files beside the log", every(1, ".*/log/.*[.]side")),
        new Forgetting("sorted files of the image", every(1, ".*/rows/.*[.]sst")),
        new Forgetting("states of queues", every(1, ".*/queues/state-.*")),
        new Forgetting("tasks of queues", every(1, ".*/queues/.*[.](data|index)")));
  }

  private static Predicate<String> every(int n, String pattern) {
    int[] count = {0};
    return path -> path.matches(pattern) && ++count[0] % n == 0;
  }

  private static Point named(String name) {
    String[] parts = name.split(":", -1);
    return point(Integer.parseInt(parts[0]), Long.parseLong(parts[1]));
  }

  /// A start builds on what it reads, and that may be what a killed process has written and not synchronised.
  @ParameterizedTest
  @ValueSource(strings = {"/queues/state-", "/log/"})
  void shouldNotRelyOnWhatAKilledProcessHasNotSynchronised(String part) throws Exception {
    System.out.println("seed " + seed);
    Path work = Files.createDirectory(directory.resolve("trace"));
    // So little that the first image of queues is that of the end: after it nothing changes.
    Kill kill = new Kill(part.equals("/log/") ? 4 + random.nextInt(4) : 1, part);
    Recording recording = new Recording(work, random.nextLong());
    assertTrue(recording.live(kill, FEW_TRANSACTIONS), "it was not killed");
    assertFalse(recording.live(Kill.NEVER, 0));
    DiskTrace trace = recording.trace();
    // Nothing is there but what the start has made durable, and the life before.
    Point end = point(trace.events().size(), 0);
    assertEquals(List.of(), fail(trace, path -> false, List.of(end), 1));
  }

  /// Runs of the program on one directory.
  private static final class Recording {
    private final Path root;
    private final TracedProcess program;
    private final long programSeed;
    private int lives;

    Recording(Path work, long programSeed) throws Exception {
      this.root = work.resolve("disk");
      this.program = new TracedProcess(work, root);
      this.programSeed = programSeed;
    }

    /// Returns whether it was killed.
    boolean live(Kill kill, int transactions) throws Exception {
      return program.run(
          List.of("-Dkakehashi.queue.segmentBytes=" + QUEUE_SEGMENT_BYTES),
          PowerLossProgram.class,
          kill,
          root.resolve(STORE).toString(),
          String.valueOf(programSeed),
          String.valueOf(lives++),
          String.valueOf(transactions));
    }

    /// The trace, which has everything: applied as it is, it makes the same files.
    DiskTrace trace() throws IOException {
      SimulatedDisk disk = new SimulatedDisk();
      DiskTrace trace = DiskTrace.read(program.trace());
      trace.events().forEach(disk::apply);
      assertEquals(List.of(), disk.differences(root, name -> name.startsWith("LOG")));
      return trace;
    }
  }

  /// Runs the program three times on one directory: it is killed, it is killed again before a synchronisation, it ends.
  private Path record(Path work, long programSeed) throws Exception {
    Recording recording = new Recording(work, programSeed);
    recording.live(new Kill(1500 + random.nextInt(2500), null), TRANSACTIONS);
    String part = PARTS.get(random.nextInt(PARTS.size()));
    recording.live(new Kill(1 + random.nextInt(8), part), TRANSACTIONS);
    recording.live(Kill.NEVER, TRANSACTIONS);
    recording.trace();
    return recording.program.trace();
  }

  /// Points in their order. Half of them are just behind an acknowledgement.
  private List<Point> points(DiskTrace trace, int count) {
    List<Integer> marks = new ArrayList<>();
    for (int i = 0; i < trace.events().size(); i++) {
      if (trace.events().get(i).kind() == DiskTrace.Kind.MARK) {
        marks.add(i + 1);
      }
    }
    List<Point> points = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int event =
          i % 2 == 0 && !marks.isEmpty()
              ? marks.get(random.nextInt(marks.size()))
              : random.nextInt(trace.events().size() + 1);
      points.add(point(event, i % 8 == 0 ? 0 : random.nextLong()));
    }
    points.sort(Comparator.comparingInt(Point::event));
    return points;
  }

  /// Lets the power fail at points, on one disk each.
  ///
  /// @param most that many failures are enough
  /// @return what was wrong
  private List<String> fail(
      DiskTrace trace, Predicate<String> ignoresSync, List<Point> points, int most)
      throws IOException {
    List<String> failures = new ArrayList<>();
    SimulatedDisk disk = new SimulatedDisk(ignoresSync);
    Acknowledged acknowledged = new Acknowledged();
    int next = 0;
    for (Point point : points) {
      for (; next < point.event(); next++) {
        DiskTrace.Event event = trace.events().get(next);
        disk.apply(event);
        if (event.kind() == DiskTrace.Kind.MARK) {
          acknowledged.add(event.mark());
        }
      }
      Path left = directory.resolve("left");
      Directories.delete(left);
      disk.leave(point.loss(), left);
      try {
        check(left.resolve(STORE), acknowledged);
      } catch (RuntimeException | AssertionError e) {
        failures.add("point " + point.name() + " (" + point.loss() + "): " + e);
        if (POINT != null) {
          e.printStackTrace();
        }
        if (failures.size() == most) {
          break;
        }
      }
    }
    return failures;
  }

  private void check(Path store, Acknowledged acknowledged) {
    if (acknowledged.hasTables) {
      CheckReport.of(PowerLossProgram.config(store)).assertSound();
    }
    try (Store opened = PowerLossProgram.open(store)) {
      acknowledged.check(opened);
    }
    if (random.nextInt(REOPENED) == 0) {
      // The start leaves a whole one, too.
      try (Store opened = PowerLossProgram.open(store)) {
        acknowledged.check(opened);
      }
    }
  }

  /// Everything that the program has said until the power failed.
  private static final class Acknowledged {
    boolean hasTables;
    private long programSeed;
    private final long[] stored = new long[PowerLossProgram.WRITERS];
    private final Set<String> effects = new HashSet<>();
    private final Map<Long, String> prepared = new TreeMap<>();
    private long defined;

    void add(String mark) {
      String[] words = mark.split(" ", -1);
      switch (words[0]) {
        case "seed" -> programSeed = Long.parseLong(words[1]);
        case "tables" -> hasTables = true;
        case "stored" -> stored[Integer.parseInt(words[1])] = Long.parseLong(words[2]);
        case "effect" -> effects.add(words[1] + "-" + words[2]);
        case "defined" -> defined = Long.parseLong(words[1]);
        case "prepared", "deciding", "committed", "aborted" ->
            prepared.put(Long.parseLong(words[1]), words[0]);
        default -> throw new IllegalArgumentException(mark);
      }
    }

    void check(Store store) {
      long[] tables = PowerLossProgram.tableIds(store);
      if (tables.length == 0) {
        assertFalse(hasTables, "the tables were acknowledged");
        return;
      }
      StoreTransaction reader = store.begin(true, false);
      try {
        ReadView view = reader.beginStatement();
        checkWriters(store, tables, view);
        checkPrepared(store, rows(store.table(tables[3]), view));
        checkDefined(store, view);
      } finally {
        reader.abort();
      }
      List<String> problems = new ArrayList<>();
      PowerLossProgram.queues(store).check(problems::add);
      assertEquals(List.of(), problems);
    }

    /// All rows of a table, which its indexes have, too.
    private static List<List<@Nullable Object>> rows(TableStore table, ReadView view) {
      List<Rows.Row> rows = Rows.scan(table, view);
      for (int index = 0; index < table.definition().indexes().size(); index++) {
        List<Rows.Row> found = Rows.indexScan(table, view, index, KeyRange.ALL);
        assertEquals(rows.size(), found.size());
        assertEquals(new HashSet<>(rows), new HashSet<>(found));
      }
      return Rows.values(rows);
    }

    private void checkWriters(Store store, long[] tables, ReadView view) {
      Map<Integer, List<List<@Nullable Object>>> rows = new HashMap<>();
      for (int t = 0; t < 3; t++) {
        rows.put(t, rows(store.table(tables[t]), view));
      }
      Set<String> tasks = new TreeSet<>();
      PowerLossProgram.queues(store)
          .tasks(
              PowerLossProgram.QUEUE,
              task -> {
                String name = new String(task.payload().bytes(), StandardCharsets.UTF_8).strip();
                assertTrue(tasks.add(name), name + " is twice in the queue");
                return true;
              });
      Set<String> done = new TreeSet<>();
      for (List<@Nullable Object> row : Objects.requireNonNull(rows.get(2))) {
        assertTrue(done.add(row.get(0) + "-" + row.get(1)));
      }
      assertTrue(done.containsAll(effects), () -> "effects lack some of " + effects);
      Set<String> both = new TreeSet<>(tasks);
      both.retainAll(done);
      assertEquals(Set.of(), both, "tasks that are done are there again");
      Set<String> expected = new TreeSet<>();
      for (int w = 0; w < PowerLossProgram.WRITERS; w++) {
        long count = PowerLossProgram.count(store, tables[0], w);
        assertTrue(
            count >= stored[w],
            "writer %d has %d of %d transactions".formatted(w, count, stored[w]));
        PowerLossProgram.Writer writer = new PowerLossProgram.Writer(programSeed, w);
        while (writer.transactions < count) {
          writer.next();
          expected.add(w + "-" + writer.transactions);
        }
        for (int t = 0; t < 2; t++) {
          Map<Object, List<@Nullable Object>> found = new TreeMap<>();
          for (List<@Nullable Object> row : Objects.requireNonNull(rows.get(t))) {
            if (Objects.equals(row.get(0), (long) w)) {
              found.put(Objects.requireNonNull(row.get(1)), row);
            }
          }
          assertEquals(writer.rows.get(t), found, "table %d of writer %d".formatted(t, w));
        }
      }
      tasks.addAll(done);
      assertEquals(expected, tasks, "tasks and effects");
    }

    private void checkPrepared(Store store, List<List<@Nullable Object>> rows) {
      Set<Long> undecided = new HashSet<>();
      store.prepared().forEach(each -> undecided.add(PowerLossProgram.preparedNumber(each)));
      Set<Long> there = new HashSet<>();
      rows.forEach(row -> there.add((Long) Objects.requireNonNull(row.get(1))));
      prepared.forEach((number, state) -> {
        boolean kept = undecided.contains(number);
        String what = number + ", which is " + state + ", is prepared: " + kept;
        switch (state) {
          case "prepared" -> assertTrue(kept, what);
          case "committed", "aborted" -> assertFalse(kept, what);
          default -> {}
        }
        assertEquals(!kept && PowerLossProgram.commits(number), there.contains(number), what);
      });
      for (long each : there) {
        assertTrue(prepared.containsKey(each), each + " was not decided");
      }
    }

    private void checkDefined(Store store, ReadView view) {
      long[] state = PowerLossProgram.defined(store);
      assertTrue(state[0] >= defined, state[0] + " is before " + defined);
      assertFalse(state[2] != 0 && store.hasTable(state[2]), "a table is there that was dropped");
      if (state[0] != 0) {
        List<List<@Nullable Object>> rows = rows(store.table(state[1]), view);
        assertEquals(PowerLossProgram.DEFINED_ROWS, rows.size());
        rows.forEach(row -> assertEquals(state[0], row.get(2)));
      }
    }
  }
}
