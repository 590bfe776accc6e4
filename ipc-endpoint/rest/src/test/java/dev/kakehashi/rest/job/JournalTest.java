package dev.kakehashi.rest.job;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {
  @TempDir Path directory;

  private Path file;
  private final List<byte[]> live = new ArrayList<>();

  @BeforeEach
  void name() {
    file = directory.resolve("journal");
  }

  private Journal open() throws IOException {
    Journal[] self = new Journal[1];
    self[0] =
        new Journal(
            file,
            () -> {
              synchronized (live) {
                return new Journal.Live(List.copyOf(live), self[0].forget());
              }
            });
    self[0].rewrite();
    return self[0];
  }

  private long add(Journal journal, String text) {
    byte[] record = text.getBytes(StandardCharsets.UTF_8);
    synchronized (live) {
      live.add(record);
      return journal.append(record);
    }
  }

  private List<String> read() throws IOException {
    return texts(JournalFormat.read(file));
  }

  private static List<String> texts(JournalFormat.Content content) {
    return content.records().stream().map(r -> new String(r, StandardCharsets.UTF_8)).toList();
  }

  @Test
  void shouldHaveOnDiskWhatWasForced() throws IOException {
    try (Journal journal = open()) {
      add(journal, "");
      journal.force(add(journal, "two"));
      add(journal, "not yet");

      JournalFormat.Content content = JournalFormat.read(file);
      assertEquals(List.of("", "two"), texts(content));
      assertFalse(content.isDamaged());
      assertFalse(content.isCutOff());
      journal.write();
      assertEquals(List.of("", "two", "not yet"), read());
    }
  }

  @Test
  void shouldForceTheRecordsOfManyThreads() throws Exception {
    int threads = 8;
    int each = 50;
    try (Journal journal = open();
        ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Future<?>> calls = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int thread = t;
        calls.add(
            pool.submit(() -> {
              for (int i = 0; i < each; i++) {
                journal.force(add(journal, thread + "." + i));
                assertTrue(read().contains(thread + "." + i));
              }
              return null;
            }));
      }
      for (Future<?> call : calls) {
        call.get();
      }
    }
    assertEquals(threads * each, read().size());
  }

  /// Outdated records go when they are more than the live ones.
  @Test
  void shouldBeWrittenAnewWhenMostOfItIsOld() throws IOException {
    try (Journal journal = open()) {
      byte[] old = new byte[100_000];
      for (int i = 0; i < 200; i++) {
        journal.append(old);
        journal.force(add(journal, "live " + i));
      }

      assertTrue(Files.size(file) < 6_000_000, "it has " + Files.size(file) + " bytes");
      List<byte[]> records = JournalFormat.read(file).records();
      for (int i = 0; i < 200; i++) {
        byte[] wanted = ("live " + i).getBytes(StandardCharsets.UTF_8);
        assertTrue(records.stream().anyMatch(r -> Arrays.equals(r, wanted)), "live " + i);
      }
    }
  }

  @Test
  void shouldReadWhatIsWholeBeforeACutAnywhere() throws IOException {
    List<String> all = fill(20);
    byte[] bytes = Files.readAllBytes(file);
    for (int length = 0; length <= bytes.length; length++) {
      Files.write(file, Arrays.copyOf(bytes, length));

      JournalFormat.Content content = JournalFormat.read(file);

      List<String> found = texts(content);
      assertEquals(all.subList(0, found.size()), found);
      assertFalse(content.isDamaged() && length >= JournalFormat.HEADER_BYTES, "cut at " + length);
    }
  }

  @Test
  void shouldReadWhatIsWholeAroundDamage() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<String> all = fill(20);
    byte[] bytes = Files.readAllBytes(file);
    for (int round = 0; round < 2_000; round++) {
      byte[] damaged = bytes.clone();
      int at = random.nextInt(bytes.length);
      int length = Math.min(1 + random.nextInt(40), bytes.length - at);
      for (int i = at; i < at + length; i++) {
        damaged[i] ^= (byte) (1 + random.nextInt(255));
      }
      Files.write(file, damaged);

      JournalFormat.Content content = JournalFormat.read(file);

      // Each record is as it was, in its place, or missing; one that is missing before others is
      // told.
      String where = "seed " + seed + " round " + round + " at " + at;
      List<String> found = texts(content);
      List<String> missing = new ArrayList<>(all);
      missing.removeAll(found);
      List<String> expected = new ArrayList<>(all);
      expected.removeAll(missing);
      assertEquals(expected, found, where);
      assertTrue(missing.size() <= 6, where);
      boolean isMiddle = !missing.isEmpty() && !missing.contains(all.getLast());
      assertTrue(content.isDamaged() || !isMiddle, where);
    }
  }

  private List<String> fill(int count) throws IOException {
    try (Journal journal = open()) {
      for (int i = 0; i < count; i++) {
        add(journal, "record " + i + " " + "x".repeat(i * 3 % 17));
      }
    }
    return read();
  }

  @Test
  void shouldSetADamagedJournalAsideAndGoOn() throws IOException {
    TestJobs test = new TestJobs(directory);
    List<JobRecord> jobs = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      jobs.add(test.run("alice", TestJobs.writes("result " + i)));
    }
    // Written anew, so that each job has one record.
    test.restart();
    test.close();
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Files.write(file, bytes);

    try (TestJobs after = new TestJobs(directory)) {
      int found = 0;
      for (int i = 0; i < 5; i++) {
        JobRecord job = jobs.get(i);
        if (after.jobs.find(TestJobs.ALICE, job.token()).isPresent()) {
          assertArrayEquals(
              ("result " + i).getBytes(StandardCharsets.UTF_8), after.read(TestJobs.ALICE, job, 1));
          found++;
        }
      }
      assertEquals(4, found);
      assertEquals(JobState.SUCCEEDED, after.run("alice", TestJobs.writes("next")).state());
    }
    assertArrayEquals(bytes, Files.readAllBytes(directory.resolve("journal.damaged")));
  }

  @Test
  void shouldSetAsideAFileThatIsNoJournal() throws IOException {
    Files.writeString(file, "something else");

    try (TestJobs test = new TestJobs(directory)) {
      assertEquals(JobState.SUCCEEDED, test.run("alice", TestJobs.writes("1")).state());
    }
  }

  /// Records that could not be written are written when that is possible.
  @Test
  void shouldGoOnAfterAFailedWrite() throws IOException {
    Path moved = directory.resolve("moved");
    Path own = directory.resolve("own");
    Files.createDirectories(own);
    file = own.resolve("journal");
    try (Journal journal = open()) {
      journal.force(add(journal, "one"));
      // Its directory goes, so that it cannot be written anew.
      Files.move(own, moved);
      byte[] old = new byte[1 << 20];
      for (int i = 0; i < 5; i++) {
        journal.append(old);
      }
      journal.write();
      long position = add(journal, "two");
      assertThrows(IOException.class, () -> journal.force(position));
      assertThrows(IOException.class, () -> journal.force(position));
      Files.move(moved, own);

      journal.force(add(journal, "three"));

      assertEquals(List.of("one", "two", "three"), read());
    }
  }
}
