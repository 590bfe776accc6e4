package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.ArchiveConfig;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.protocol.Directories;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// Rate of stored commits of one row with an archive each second, of that without. Both take turns.
///
/// Arguments: directory, threads (default 8), rounds (default 5), seconds of a turn (default 5).
final class ArchiveBenchmark {
  private ArchiveBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    int threads = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 8;
    int rounds = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 5;
    int seconds = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 5;
    List<Double> ratios = new ArrayList<>();
    turn(directory, threads, seconds, false); // warms up
    for (int round = 0; round < rounds; round++) {
      double without = turn(directory, threads, seconds, false);
      double with = turn(directory, threads, seconds, true);
      ratios.add(with / without);
      System.out.printf("without %.0f/s, with %.0f/s: %.3f%n", without, with, with / without);
    }
    Collections.sort(ratios);
    System.out.printf("median of %d: %.3f%n", rounds, ratios.get(rounds / 2));
  }

  private static double turn(Path directory, int threads, int seconds, boolean isArchived)
      throws Exception {
    Path home = directory.resolve("home");
    Path archive = Files.createDirectories(directory.resolve("archive"));
    @Nullable ArchiveConfig to =
        isArchived ? new ArchiveConfig(archive, TimeUnit.SECONDS.toNanos(1), 1L << 40) : null;
    try (Store store = StoreFactory.open(new StoreConfig(home, 2L << 30).archivedTo(to))) {
      IndexDefinition key =
          new IndexDefinition(store.nextObjectId(), "pkey", List.of(0), List.of(false), true);
      TableStore table =
          CatalogTool.createTable(
              store,
              new TableDefinition(
                  store.nextObjectId(),
                  List.of(ColumnKind.INTEGER, ColumnKind.VARLENA),
                  List.of(true, false),
                  List.of(key)));
      return commits(store, table, threads, seconds) / (double) seconds;
    } finally {
      Directories.delete(home);
      Directories.delete(archive);
    }
  }

  private static long commits(Store store, TableStore table, int threads, int seconds)
      throws InterruptedException {
    AtomicBoolean stopping = new AtomicBoolean();
    LongAdder done = new LongAdder();
    List<Thread> clients = new ArrayList<>();
    String value = "x".repeat(100);
    for (int i = 0; i < threads; i++) {
      long first = (long) i << 40;
      clients.add(
          Thread.ofPlatform()
              .start(() -> {
                for (long id = first; !stopping.get(); id++) {
                  StoreTransaction transaction = store.begin(false, false);
                  transaction.beginStatement();
                  Rows.insert(table, transaction, id, value);
                  Rows.commit(transaction);
                  done.increment();
                }
              }));
    }
    Thread.sleep(TimeUnit.SECONDS.toMillis(seconds));
    stopping.set(true);
    for (Thread client : clients) {
      client.join();
    }
    return done.sum();
  }
}
