package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.durable.DataDirectory;
import dev.kakehashi.engine.store.log.SmallLog;
import dev.kakehashi.engine.testing.KilledProcess;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A process is killed in which all that takes long goes on all the time: the log is so small ([SmallLog]) that its segments are filled and
/// used again and its image is flushed many times a second, indexes are built on a filled table, tables are dropped and made anew,
/// transactions are prepared and decided, and one backup follows another.
///
/// Reported changes hold after each kill; others are there as a whole or not at all. The last backup that was finished has the changes that
/// were reported before its beginning.
final class StoreWindowsCrashTest {
  /// `-Dkakehashi.kills=200` makes a night of it.
  private static final int ROUNDS = Math.max(2, Integer.getInteger("kakehashi.kills", 20) / 4);

  private static final int MOST_ACKNOWLEDGED_BEFORE_KILL = 300;
  private static final int ROWS_OF_TRANSACTION = 4;
  private static final int LONGEST_TEXT = 30_000;
  private static final int INDEXED_ROWS = 2_000;

  /// Tables, and how far the definitions have come.
  private static final String ROWS = "rows";

  private static final String INDEXED = "indexed";
  private static final String STEP = "step";
  private static final String MADE = "made";

  /// Kinds of steps.
  private static final int STEPS = 4;

  private static final String DONE = "done ";
  private static final String PREPARED = "prepared ";
  private static final String DECIDED = "decided ";
  private static final String DEFINED = "defined ";
  private static final String BACKUP = "backup ";

  @TempDir Path home;

  private final Set<String> done = new HashSet<>();
  private final Set<String> prepared = new HashSet<>();
  private long defined;

  @Test
  @Timeout(3600)
  void shouldLoseNothingWhateverTheKillInterrupts() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("StoreWindowsCrashTest seed " + seed);
    Random random = new Random(seed);
    int backups = 0;
    int left = 0;
    Path directory = home.resolve("live");
    for (int round = 0; round < ROUNDS; round++) {
      Path saved = Files.createDirectory(home.resolve("backups"));
      List<String> acknowledged =
          KilledProcess.run(
              Worker.class,
              1 + random.nextInt(MOST_ACKNOWLEDGED_BEFORE_KILL),
              directory.toString(),
              saved.toString(),
              String.valueOf(round),
              String.valueOf(random.nextLong()));
      backups += checkBackup(saved, acknowledged);
      acknowledged.forEach(this::note);
      CheckReport.of(directory).assertSound();
      left += check(directory);
      Directories.delete(saved);
    }
    System.out.printf(
        "%d kills: %d commits, %d prepared, %d left so, %d definitions, %d backups%n",
        ROUNDS, done.size(), prepared.size(), left, defined, backups);
  }

  /// Takes what was acknowledged for granted from now on.
  private void note(String line) {
    if (line.startsWith(DONE)) {
      done.add(line.substring(DONE.length()));
    } else if (line.startsWith(PREPARED)) {
      prepared.add(line.substring(PREPARED.length()));
    } else if (line.startsWith(DECIDED) && isCommitted(line.substring(DECIDED.length()))) {
      done.add(line.substring(DECIDED.length()));
    } else if (line.startsWith(DEFINED)) {
      defined = Math.max(defined, Long.parseLong(line.substring(DEFINED.length())));
    }
  }

  /// Whichever of process and test decides on a prepared transaction decides so.
  private static boolean isCommitted(String name) {
    return (name.hashCode() & 1) == 0;
  }

  /// @return prepared transactions that waited for a decision
  private int check(Path directory) throws IOException {
    int left = 0;
    try (Store store = open(directory)) {
      assertFalse(Files.exists(DataDirectory.backupWorkspace(directory)));
      if (!store.catalog().containsKey(STEP)) {
        assertEquals(Set.of(), done);
        return 0;
      }
      Map<String, Integer> found = rows(store);
      Set<String> waiting = new HashSet<>();
      for (StoreTransaction each : store.prepared()) {
        String name = java.util.Objects.requireNonNull(each.preparation()).globalId();
        waiting.add(name);
        assertFalse(found.containsKey(name), name + " is seen before its decision");
        decide(each, isCommitted(name));
        left++;
      }
      for (String name : prepared) {
        assertTrue(
            waiting.contains(name) || found.containsKey(name) == isCommitted(name),
            name + " was prepared");
      }
      found = rows(store);
      found.forEach(
          (name, rows) -> assertEquals(ROWS_OF_TRANSACTION, rows, name + " is not whole"));
      waiting.forEach(name -> {
        prepared.add(name);
        if (isCommitted(name)) {
          done.add(name);
        }
      });
      for (String name : done) {
        assertTrue(found.containsKey(name), name + " was reported");
      }
      assertTrue(number(store, STEP) >= defined, number(store, STEP) + " < " + defined);
      checkDefinitions(store);
    }
    return left;
  }

  private static void checkDefinitions(Store store) {
    long step = number(store, STEP);
    TableStore indexed = table(store, INDEXED);
    assertEquals(step % STEPS == 1 ? 2 : 1, indexed.definition().indexes().size(), "step " + step);
    StoreTransaction reader = store.begin(true, false);
    ReadView view = reader.beginStatement();
    List<Rows.Row> rows = Rows.scan(indexed, view);
    assertEquals(INDEXED_ROWS, rows.size());
    for (int i = 0; i < indexed.definition().indexes().size(); i++) {
      assertEquals(
          new HashSet<>(rows), new HashSet<>(Rows.indexScan(indexed, view, i, KeyRange.ALL)));
    }
    assertEquals(step % STEPS == 3, store.hasTable(number(store, MADE)), "step " + step);
    if (step % STEPS == 3) {
      assertEquals(INDEXED_ROWS / 2, Rows.scan(table(store, MADE), view).size());
    }
    reader.abort();
  }

  /// Looks at the last backup that was finished; those before are being deleted.
  ///
  /// @return 0 if there was none
  private int checkBackup(Path saved, List<String> acknowledged) throws IOException {
    int at = acknowledged.size() - 1;
    while (at >= 0 && !acknowledged.get(at).startsWith(BACKUP)) {
      at--;
    }
    if (at < 0) {
      return 0;
    }
    // It says how many lines it had seen when it began.
    String[] words = acknowledged.get(at).substring(BACKUP.length()).split(" ", 2);
    Path backup = saved.resolve(words[0]);
    CheckReport.of(backup).assertSound();
    try (Store store = StoreFactory.open(new StoreConfig(backup, 1L << 30))) {
      Map<String, Integer> found = rows(store);
      found.forEach((name, rows) ->
          assertEquals(ROWS_OF_TRANSACTION, rows, name + " is not whole in a backup"));
      for (String name : done) {
        assertTrue(found.containsKey(name), name + " is not in a later backup");
      }
      for (String line : acknowledged.subList(0, Integer.parseInt(words[1]))) {
        if (line.startsWith(DONE)) {
          assertTrue(
              found.containsKey(line.substring(DONE.length())), line + ", and not in a backup");
        }
      }
      checkDefinitions(store);
    }
    return 1;
  }

  /// Rows by the names of their transactions.
  private static Map<String, Integer> rows(Store store) {
    Map<String, Integer> found = new HashMap<>();
    StoreTransaction reader = store.begin(true, false);
    for (Rows.Row row : Rows.scan(table(store, ROWS), reader.beginStatement())) {
      found.merge((String) row.values().getFirst(), 1, Integer::sum);
    }
    reader.abort();
    return found;
  }

  private static Store open(Path directory) {
    return MemoryStore.open(new StoreConfig(directory, 1L << 30), SmallLog::open);
  }

  private static long number(Store store, String key) {
    byte[] bytes = store.catalog().get(key);
    return bytes == null ? 0 : Long.parseLong(new String(bytes, StandardCharsets.US_ASCII));
  }

  private static CatalogChange put(String key, long number) {
    return new CatalogChange.Put(key, String.valueOf(number).getBytes(StandardCharsets.US_ASCII));
  }

  private static TableStore table(Store store, String key) {
    return store.table(number(store, key));
  }

  private static void await(Consumer<Consumer<@Nullable Throwable>> work) {
    CompletableFuture<@Nullable Throwable> result = new CompletableFuture<>();
    work.accept(result::complete);
    Throwable failure = result.orTimeout(60, TimeUnit.SECONDS).join();
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
  }

  private static void decide(StoreTransaction transaction, boolean commit) {
    if (commit) {
      await(ended -> transaction.commit(true, ended));
    } else {
      await(transaction::rollbackPrepared);
    }
  }

  /// The process that is killed.
  static final class Worker {
    private final Store store;
    private final Path backups;
    private final String round;

    /// Guarded by this, as what is printed.
    private int acknowledged;

    private Worker(Store store, Path backups, String round) {
      this.store = store;
      this.backups = backups;
      this.round = round;
    }

    public static void main(String[] arguments) throws Exception {
      Store store = open(Path.of(arguments[0]));
      if (!store.catalog().containsKey(STEP)) {
        create(store);
      }
      Worker worker = new Worker(store, Path.of(arguments[1]), arguments[2]);
      Random random = new Random(Long.parseLong(arguments[3]));
      List<Thread> threads = new ArrayList<>();
      for (Consumer<Random> work :
          List.<Consumer<Random>>of(
              own -> worker.write("a", own),
              own -> worker.write("b", own),
              own -> worker.prepare(own),
              own -> worker.define(),
              own -> worker.backup())) {
        Random own = new Random(random.nextLong());
        threads.add(Thread.ofPlatform().start(() -> work.accept(own)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }

    private synchronized void acknowledge(String what) {
      acknowledged++;
      KilledProcess.acknowledge(what);
    }

    private synchronized int acknowledged() {
      return acknowledged;
    }

    private static void create(Store store) {
      List<CatalogChange> changes = new ArrayList<>();
      for (String key : List.of(ROWS, INDEXED)) {
        long id = store.nextObjectId();
        changes.add(new CatalogChange.CreateTable(definition(store, id)));
        changes.add(put(key, id));
      }
      CatalogTool.change(store, changes);
      StoreTransaction transaction = store.begin(false, false);
      transaction.beginStatement();
      for (long i = 0; i < INDEXED_ROWS; i++) {
        Rows.insert(table(store, INDEXED), transaction, "row " + i, i, null);
      }
      // From here on what the test looks at is there.
      transaction.define(put(STEP, 0));
      Rows.commit(transaction);
    }

    private static TableDefinition definition(Store store, long id) {
      return new TableDefinition(
          id,
          List.of(ColumnKind.VARLENA, ColumnKind.INTEGER, ColumnKind.VARLENA),
          List.of(true, true, false),
          List.of(
              new IndexDefinition(
                  store.nextObjectId(), "key", List.of(0, 1), List.of(false, false), true)));
    }

    private void insert(StoreTransaction transaction, String name, Random random) {
      transaction.beginStatement();
      for (long i = 0; i < ROWS_OF_TRANSACTION; i++) {
        String text = "v".repeat(random.nextInt(random.nextInt(1, LONGEST_TEXT)));
        Rows.insert(table(store, ROWS), transaction, name, i, text);
      }
    }

    private void write(String writer, Random random) {
      for (long i = 0; ; i++) {
        String name = "%s-%s-%d".formatted(round, writer, i);
        StoreTransaction transaction = store.begin(false, false);
        insert(transaction, name, random);
        boolean stored = random.nextInt(3) > 0;
        Rows.commit(transaction, stored);
        if (stored) {
          acknowledge(DONE + name);
        }
      }
    }

    private void prepare(Random random) {
      for (long i = 0; ; i++) {
        String name = "%s-p-%d".formatted(round, i);
        StoreTransaction transaction = store.begin(false, false);
        insert(transaction, name, random);
        Preparation preparation = new Preparation(name, "owner", "user", i, 0);
        await(ready -> transaction.prepare(preparation, ready));
        acknowledge(PREPARED + name);
        decide(transaction, isCommitted(name));
        acknowledge(DECIDED + name);
      }
    }

    /// One transaction for each step: an index is built on a filled table, dropped, a table is made and filled, and dropped.
    private void define() {
      for (long step = number(store, STEP); ; step++) {
        StoreTransaction transaction = store.begin(false, false);
        transaction.beginStatement();
        TableStore indexed = table(store, INDEXED);
        switch ((int) (step % STEPS)) {
          case 0 ->
              transaction.define(
                  new CatalogChange.CreateIndex(
                      indexed.definition().tableId(),
                      new IndexDefinition(
                          store.nextObjectId(), "number", List.of(1), List.of(true), true)));
          case 1 ->
              transaction.define(
                  new CatalogChange.DropIndex(
                      indexed.definition().tableId(),
                      indexed.definition().indexes().getLast().indexId()));
          case 2 -> {
            long id = store.nextObjectId();
            transaction.define(new CatalogChange.CreateTable(definition(store, id)));
            for (long i = 0; i < INDEXED_ROWS / 2; i++) {
              Rows.insert(store.table(id), transaction, "row", i, null);
            }
            transaction.define(put(MADE, id));
          }
          default -> transaction.define(new CatalogChange.DropTable(number(store, MADE)));
        }
        transaction.define(put(STEP, step + 1));
        Rows.commit(transaction);
        acknowledge(DEFINED + (step + 1));
      }
    }

    private void backup() {
      try {
        for (int i = 0; ; i++) {
          int before = acknowledged();
          Path target = backups.resolve(String.valueOf(i));
          try (Backup backup = store.backup()) {
            for (Backup.File file : backup.files()) {
              Path to = target.resolve(file.name());
              Files.createDirectories(to.getParent());
              Files.copy(file.source(), to, StandardCopyOption.REPLACE_EXISTING);
              try (RandomAccessFile copied = new RandomAccessFile(to.toFile(), "rw")) {
                copied.setLength(file.bytes());
              }
            }
          }
          acknowledge(BACKUP + i + " " + before);
          if (i > 0) {
            // Each is as large as the store.
            Directories.delete(backups.resolve(String.valueOf(i - 1)));
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
