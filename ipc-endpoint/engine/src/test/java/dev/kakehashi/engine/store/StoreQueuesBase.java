package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.engine.queue.ListQueues;
import dev.kakehashi.engine.queue.StoreQueueHost;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.log.SmallLog;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/// A small store with a queue, and a table whose rows have the numbers of its tasks.
@SuppressWarnings("NullAway.Init") // set before each test
abstract class StoreQueuesBase {
  static final long QUEUE = 1_000_000;

  @TempDir Path directory;
  Path home;
  Store store;
  ListQueues queues;
  TableStore table;
  long tableId;

  @BeforeEach
  void openWithAQueue() {
    home = directory.resolve("home");
    open(home);
    tableId = store.nextObjectId();
    table =
        CatalogTool.createTable(
            store,
            new TableDefinition(
                tableId,
                List.of(ColumnKind.INTEGER, ColumnKind.VARLENA),
                List.of(true, false),
                List.of(
                    new IndexDefinition(
                        store.nextObjectId(), "items_pkey", List.of(0), List.of(false), true))));
    StoreTransaction transaction = begin();
    transaction.queueChanges().createQueue(QUEUE);
    Rows.commit(transaction);
    assertEquals(java.util.Set.of(QUEUE), queues.queueIds());
  }

  @AfterEach
  void close() {
    store.close();
    assertTrue(queues.isClosed());
    assertEquals(0, queues.notEnded());
  }

  void open(Path where) {
    store = MemoryStore.open(new StoreConfig(where, 1L << 28, ListQueues::new), SmallLog::open);
    queues = (ListQueues) Objects.requireNonNull(store.queues());
    queues.start(new StoreQueueHost(store), List.of());
  }

  void reopen(Path where) {
    store.close();
    open(where);
    table = store.table(tableId);
  }

  StoreTransaction begin() {
    StoreTransaction transaction = store.begin(false, false);
    transaction.beginStatement();
    return transaction;
  }

  static NewTask task(String payload) {
    return NewTask.of(new Payload(false, payload.getBytes(StandardCharsets.UTF_8)));
  }

  /// A row and a task of the same number.
  void insertBoth(StoreTransaction transaction, long number, String more) {
    Rows.insert(table, transaction, number, more);
    transaction.queueChanges().enqueue(QUEUE, task(number + more));
  }

  void commitBoth(long number) {
    StoreTransaction transaction = begin();
    insertBoth(transaction, number, "");
    Rows.commit(transaction);
  }

  List<String> rows() {
    StoreTransaction reader = store.begin(true, false);
    try {
      return Rows.scan(table, reader.beginStatement()).stream()
          .map(row -> row.values().getFirst() + (String) row.values().get(1))
          .sorted()
          .toList();
    } finally {
      reader.abort();
    }
  }

  List<String> tasks() {
    return queues.payloads(QUEUE).stream().sorted().toList();
  }

  void assertBoth(String... expected) {
    assertEquals(List.of(expected), rows());
    assertEquals(List.of(expected), tasks());
  }

  LeasedTask receive() {
    CompletableFuture<List<LeasedTask>> received = new CompletableFuture<>();
    QueueSystem.Waiting waiting =
        queues.receive(
            new ReceiveRequest(
                QUEUE, QueueDefinition.NO_GROUP, 1, 1 << 20, 1, 0, LeaseHolder.TIME, List.of()),
            new QueueSystem.Listener() {
              @Override
              public void received(List<LeasedTask> tasks) {
                received.complete(tasks);
              }

              @Override
              public void failed(EngineException reason) {
                received.completeExceptionally(reason);
              }
            });
    assertNotNull(waiting);
    List<LeasedTask> tasks = received.orTimeout(60, TimeUnit.SECONDS).join();
    assertEquals(1, tasks.size());
    return tasks.getFirst();
  }

  static @Nullable EngineException outcome(Consumer<Consumer<@Nullable Throwable>> operation) {
    CompletableFuture<Optional<Throwable>> result = new CompletableFuture<>();
    operation.accept(failure -> result.complete(Optional.ofNullable(failure)));
    return (EngineException) result.orTimeout(60, TimeUnit.SECONDS).join().orElse(null);
  }

  static ErrorCode refusal(Consumer<Consumer<@Nullable Throwable>> operation) {
    return Objects.requireNonNull(outcome(operation), "it was not refused").code();
  }

  static void succeed(Consumer<Consumer<@Nullable Throwable>> operation) {
    EngineException failure = outcome(operation);
    if (failure != null) {
      throw failure;
    }
  }

  static Preparation preparation(String globalId) {
    return new Preparation(globalId, "", "alice", 0, 0);
  }

  /// Files that a crash leaves now: a copy during which no file has changed.
  Path crashed(String name) throws IOException {
    Path copy = directory.resolve(name);
    while (true) {
      Map<Path, String> before = files();
      for (Path file : before.keySet()) {
        Path target = copy.resolve(home.relativize(file));
        Files.createDirectories(target.getParent());
        try {
          Files.copy(file, target);
        } catch (NoSuchFileException gone) {
          break; // and so the files are others now
        }
      }
      if (files().equals(before)) {
        return copy;
      }
      Directories.delete(copy);
    }
  }

  private Map<Path, String> files() throws IOException {
    try (Stream<Path> found = Files.walk(home)) {
      Map<Path, String> files = new TreeMap<>();
      for (Path file : found.filter(Files::isRegularFile).toList()) {
        files.put(file, Files.size(file) + " " + Files.getLastModifiedTime(file));
      }
      return files;
    } catch (UncheckedIOException | NoSuchFileException changing) {
      return files();
    }
  }
}
