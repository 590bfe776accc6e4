package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.engine.queue.ListQueues;
import dev.kakehashi.engine.queue.StoreQueueHost;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.log.SmallLog;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Rows and tasks of one transaction are both there or both not, whatever has become of log, base image and the files of queues; in a
/// backup, too.
@Timeout(120)
final class StoreQueueLogTest extends StoreQueuesBase {
  /// Places at which the log is cut; as many as it has bytes, if that are fewer.
  private static final int CUTS = Integer.getInteger("kakehashi.cuts", 20);

  @Test
  void shouldHaveRowAndTaskTogetherWhereverTheLogIsCut() throws IOException {
    commitBoth(1);
    Path before = crashed("before");
    StoreTransaction transaction = begin();
    insertBoth(transaction, 2, "x".repeat(40));
    Rows.commit(transaction);
    LeasedTask lent = receive();
    StoreTransaction completion = begin();
    Rows.insert(table, completion, 3L, "");
    completion.queueChanges().complete(lent.token());
    completion.queueChanges().enqueue(QUEUE, task("3"));
    Rows.commit(completion);
    Path segment = Path.of("log").resolve(onlySegment());
    byte[] whole = Files.readAllBytes(home.resolve(segment));
    byte[] old = Files.readAllBytes(before.resolve(segment));
    int from = 0;
    int to = whole.length;
    while (whole[from] == old[from]) {
      from++;
    }
    while (whole[to - 1] == old[to - 1]) {
      to--;
    }
    String second = "2" + "x".repeat(40);
    int[] found = new int[3];
    int step = Math.max(1, (to - from) / CUTS);
    for (int cut = from; cut < to + step; cut += step) {
      Path torn = directory.resolve("torn" + cut);
      copy(before, torn);
      byte[] bytes = old.clone();
      System.arraycopy(whole, 0, bytes, 0, cut);
      Files.write(torn.resolve(segment), bytes);
      reopen(torn);
      List<String> rows = rows();
      if (rows.contains("3")) {
        assertEquals(List.of("1", second, "3"), rows);
        assertEquals(List.of(second, "3"), tasks());
        found[2]++;
      } else {
        assertEquals(rows, tasks(), "cut at " + cut);
        found[rows.size() - 1]++;
      }
    }
    assertTrue(found[0] > 0 && found[1] > 0 && found[2] > 0);
  }

  private String onlySegment() throws IOException {
    try (Stream<Path> files = Files.list(home.resolve("log"))) {
      // The second one is made ahead, and not written to.
      return files.sorted().findFirst().orElseThrow().getFileName().toString();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.copy(file, to.resolve(from.relativize(file)));
      }
    }
  }

  @Test
  void shouldReplayWhatTheFilesLackWhereverTheImageStands() throws IOException {
    // More than the small log has room for: image and queues are forced on the way, and segments
    // are given back.
    List<String> expected = new ArrayList<>();
    for (int i = 100; i < 500; i++) {
      StoreTransaction transaction = begin();
      insertBoth(transaction, i, "y".repeat(2000));
      Rows.commit(transaction, i % 7 == 0);
      expected.add(i + "y".repeat(2000));
      if (i % 100 == 99) {
        Rows.commit(emptied());
        expected.remove(0);
        Path copy = crashed("crashed" + i);
        Store live = store;
        ListQueues liveQueues = queues;
        TableStore liveTable = table;
        open(copy);
        table = store.table(tableId);
        assertEquals(expected, tasks());
        assertEquals(i - 99, rows().size());
        store.close();
        // Once more, after a clean end.
        open(copy);
        table = store.table(tableId);
        assertEquals(expected, tasks());
        store.close();
        store = live;
        queues = liveQueues;
        table = liveTable;
      }
    }
    assertTrue(queues.forced() > 1, "forced " + queues.forced() + " times");
  }

  /// A transaction that completes the oldest task.
  private StoreTransaction emptied() {
    StoreTransaction transaction = begin();
    transaction.queueChanges().complete(receive().token());
    return transaction;
  }

  @Test
  void shouldKeepTasksOfARecordThatIsBesideTheLog() throws IOException {
    StoreTransaction transaction = begin();
    for (long i = 1000; i < 1100; i++) {
      insertBoth(transaction, i, "z".repeat(1000));
    }
    Rows.commit(transaction);
    Path copy = crashed("crashed");
    try (Stream<Path> files = Files.list(copy.resolve("log"))) {
      assertTrue(files.anyMatch(file -> file.toString().endsWith(".side")));
    }
    reopen(copy);
    assertEquals(100, tasks().size());
    assertEquals(rows(), tasks());
  }

  @Test
  void shouldRefuseALogOfQueuesThatIsOpenedWithoutThem() throws IOException {
    commitBoth(1);
    Path copy = crashed("crashed");
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> MemoryStore.open(new StoreConfig(copy, 1L << 28), SmallLog::open));
    assertEquals(ErrorCode.NOT_IN_PREREQUISITE_STATE, refused.code());
  }

  @Test
  void shouldLeaveNothingOfACommitThatTheDiskHasNoRoomFor() {
    TestLog log = new TestLog();
    ListQueues of = new ListQueues(directory.resolve("other"));
    log.queues = of;
    try (MemoryStore full = MemoryStore.open(log, 1L << 28)) {
      of.start(new StoreQueueHost(full), List.of());
      StoreTransaction made = full.begin(false, false);
      made.queueChanges().createQueue(QUEUE);
      Rows.commit(made);
      of.durable(Long.MAX_VALUE);
      StoreTransaction refused = full.begin(false, false);
      refused.queueChanges().enqueue(QUEUE, task("refused"));
      long reserved = log.reserved();
      log.noRoom = true;
      assertEquals(ErrorCode.DISK_FULL, refusal(done -> refused.commit(true, done)));
      assertEquals(reserved, log.reserved());
      log.noRoom = false;
      of.durable(Long.MAX_VALUE);
      assertEquals(List.of(), of.payloads(QUEUE));
      assertEquals(0, of.notEnded());
      // Claims are refused alike.
      StoreTransaction more = full.begin(false, false);
      more.queueChanges().enqueue(QUEUE, task("there"));
      Rows.commit(more);
      log.noRoom = true;
      of.durable(Long.MAX_VALUE);
      CompletableFuture<ErrorCode> told = new CompletableFuture<>();
      of.receive(
          new ReceiveRequest(QUEUE, 0, 1, 1 << 20, 1, 0, LeaseHolder.TIME, List.of()),
          new QueueSystem.Listener() {
            @Override
            public void received(List<LeasedTask> tasks) {
              told.completeExceptionally(new AssertionError(tasks.toString()));
            }

            @Override
            public void failed(EngineException reason) {
              told.complete(reason.code());
            }
          });
      assertEquals(ErrorCode.IO_ERROR, told.orTimeout(60, TimeUnit.SECONDS).join());
      assertEquals(0, of.notEnded());
      log.noRoom = false;
    }
  }

  // ---- backup ----

  @Test
  void shouldBackUpRowsAndTasksOfOneMoment() throws Exception {
    AtomicLong written = new AtomicLong();
    AtomicBoolean stop = new AtomicBoolean();
    Thread writer =
        new Thread(() -> {
          for (long i = 1; !stop.get(); i++) {
            commitBoth(i);
            written.set(i);
          }
        });
    writer.start();
    Path target = directory.resolve("backup");
    long before;
    try {
      while (written.get() < 100) {
        Thread.onSpinWait();
      }
      before = written.get();
      try (Backup backup = store.backup()) {
        assertEquals(1, queues.filesHeld());
        copyFiles(backup.changingFiles(), target);
        long seen = written.get();
        while (written.get() < seen + 20) {
          Thread.onSpinWait();
        }
        copyFiles(backup.files(), target);
      }
      assertEquals(0, queues.filesHeld());
    } finally {
      stop.set(true);
      writer.join();
    }
    long after = written.get();
    reopen(target);
    List<String> rows = rows();
    assertEquals(rows, tasks());
    assertTrue(rows.size() >= before && rows.size() <= after, rows.size() + " rows");
    assertEquals(
        LongStream.rangeClosed(1, rows.size()).mapToObj(String::valueOf).sorted().toList(), rows);
  }

  private static void copyFiles(List<Backup.File> files, Path target) throws IOException {
    assertFalse(files.isEmpty());
    for (Backup.File file : files) {
      Path to = target.resolve(file.name());
      Files.createDirectories(to.getParent());
      byte[] bytes = Files.readAllBytes(file.source());
      Files.write(to, java.util.Arrays.copyOf(bytes, (int) file.bytes()));
    }
  }
}
