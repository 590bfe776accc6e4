package dev.kakehashi.rest.job;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.file.RecordFile;
import dev.kakehashi.protocol.file.RecordKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {
  /// Bytes before the first record.
  private static final int HEADER_BYTES = 32;

  /// In `journal-1`.
  private static final Map<JobViewer, String> OLD_JOBS =
      Map.of(
          TestJobs.ALICE, "c82848c3ac8ec6a9602690198f3d4717",
          TestJobs.BOB, "61ce4e2baef1bc7ed0b64e733bf8f0f5");

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
      assertFalse(content.isDamaged(), "cut at " + length);
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
      int at = HEADER_BYTES + random.nextInt(bytes.length - HEADER_BYTES);
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
        journal.force(add(journal, "record " + i + " " + "x".repeat(i * 3 % 17)));
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

  /// `journal-1` is of a build before there were files of records.
  @Test
  void shouldTakeOverAJournalOfBefore() throws IOException {
    byte[] old;
    try (InputStream in = JournalTest.class.getResourceAsStream("journal-1")) {
      old = Objects.requireNonNull(in).readAllBytes();
    }
    for (int length = 8; length < old.length; length++) {
      Files.write(file, Arrays.copyOf(old, length));
      assertFalse(JournalFormat.read(file).isDamaged(), "cut at " + length);
    }
    byte[] damaged = old.clone();
    damaged[30] ^= 1;
    Files.write(file, damaged);
    assertTrue(JournalFormat.read(file).isDamaged());
    Files.write(file, old);

    try (TestJobs test = new TestJobs(directory)) {
      // Their files are not there.
      for (Map.Entry<JobViewer, String> each : OLD_JOBS.entrySet()) {
        JobRecord job = test.jobs.find(each.getKey(), each.getValue()).orElseThrow();
        assertEquals(JobState.SUCCEEDED, job.state());
        assertEquals(ResultState.LOST, job.result());
      }
    }
    String head = new String(Files.readAllBytes(file), 0, 8, StandardCharsets.US_ASCII);
    assertEquals("KHRECORD", head);
    assertEquals(2, JournalFormat.read(file).records().size());
    assertFalse(Files.exists(directory.resolve("journal.damaged")));
  }

  @Test
  void shouldRefuseAJournalOfANewerVersion() throws IOException {
    RecordKind newer = new RecordKind("JOBS", JournalFormat.KIND.version() + 1, 9, "journal");
    RecordFile.create(file, newer).close();
    byte[] before = Files.readAllBytes(file);
    assertThrows(UncheckedIOException.class, () -> new TestJobs(directory));
    assertArrayEquals(before, Files.readAllBytes(file));
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
