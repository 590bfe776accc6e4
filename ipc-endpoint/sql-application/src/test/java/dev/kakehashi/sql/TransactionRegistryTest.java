package dev.kakehashi.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import net.openhft.chronicle.values.Values;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How long, and how many, outcomes are kept.
final class TransactionRegistryTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final long HOUR_MILLIS = HOUR.toMillis();

  @TempDir private Path directory;
  private final AtomicLong now = new AtomicLong(1_800_000_000_000L);

  private TransactionRegistry open(int capacity) throws IOException {
    return TransactionRegistry.open(directory, capacity, HOUR, now::get);
  }

  private static long handle(long number) {
    return number << 16;
  }

  private static void commit(TransactionRegistry registry, long number) {
    registry.committing(handle(number), 7, number);
    registry.ended(handle(number), 7, number, true);
  }

  private static TransactionState state(TransactionRegistry registry, long number) {
    TransactionRegistry.Entry entry = registry.find(handle(number));
    return entry == null ? TransactionState.NONE : entry.state();
  }

  /// Otherwise the library generates and compiles it whenever an endpoint starts, which takes seconds.
  @Test
  void shouldHaveTheClassOfTheFilesHeader() throws ClassNotFoundException {
    Class<?> state = Class.forName("net.openhft.chronicle.hash.VanillaGlobalMutableState");
    assertEquals(
        TransactionRegistry.class.getProtectionDomain().getCodeSource(),
        Values.nativeClassFor(state).getProtectionDomain().getCodeSource());
  }

  @Test
  void shouldKeepOutcomesForTheirTime() throws IOException {
    try (TransactionRegistry registry = open(128)) {
      commit(registry, 1);
      now.addAndGet(HOUR_MILLIS - 1);
      commit(registry, 2);
      assertEquals(TransactionState.COMMITTED, state(registry, 1));
      now.addAndGet(1);
      assertNull(registry.find(handle(1)));
      commit(registry, 3);
      assertEquals(2, registry.size());
      assertEquals(TransactionState.COMMITTED, state(registry, 2));
    }
  }

  @Test
  void shouldNameADamagedFileAndSayWhatToDo() throws IOException {
    open(128).close();
    Path file = directory.resolve("transactions");
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(200);
      bytes.write('U');
    }
    EngineException refused = assertThrows(EngineException.class, () -> open(128).close());
    assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
    assertTrue(String.valueOf(refused.getMessage()).contains(file.toString()), refused.toString());
    assertTrue(refused.hint().contains("Remove it"), refused.hint());
    Files.delete(file);
    try (TransactionRegistry registry = open(128)) {
      assertEquals(0, registry.size());
    }
  }

  @Test
  void shouldCountTheTimeFromTheEnd() throws IOException {
    try (TransactionRegistry registry = open(128)) {
      registry.committing(handle(1), 7, 1);
      now.addAndGet(HOUR_MILLIS / 2);
      registry.ended(handle(1), 7, 1, false);
      now.addAndGet(HOUR_MILLIS / 2);
      commit(registry, 2);
      assertEquals(TransactionState.ABORTED, state(registry, 1));
    }
  }

  @Test
  void shouldKeepNoMoreThanItsCapacity() throws IOException {
    try (TransactionRegistry registry = open(128)) {
      for (long i = 1; i <= 200; i++) {
        commit(registry, i);
      }
      assertEquals(128, registry.size());
      assertNull(registry.find(handle(72)));
      assertNotNull(registry.find(handle(73)));
    }
  }

  @Test
  void shouldKeepWhatIsPreparedUntilAfterItsDecision() throws IOException {
    try (TransactionRegistry registry = open(128)) {
      registry.prepared(handle(1), 7, 1);
      commit(registry, 2);
      now.addAndGet(3 * HOUR_MILLIS);
      commit(registry, 3);
      commit(registry, 4);
      assertEquals(TransactionState.PREPARED, state(registry, 1));
      assertNull(registry.find(handle(2)));
      assertEquals(3, registry.size());
      registry.ended(handle(1), 7, 1, true);
      assertEquals(TransactionState.COMMITTED, state(registry, 1));
      now.addAndGet(HOUR_MILLIS);
      assertEquals(TransactionState.NONE, state(registry, 1));
    }
  }

  @Test
  void shouldLetGoOfOldOutcomesAtItsStart() throws IOException {
    try (TransactionRegistry registry = open(128)) {
      commit(registry, 1);
      now.addAndGet(HOUR_MILLIS / 2);
      commit(registry, 2);
    }
    now.addAndGet(HOUR_MILLIS / 2);
    try (TransactionRegistry registry = open(128)) {
      assertEquals(1, registry.size());
      assertEquals(TransactionState.COMMITTED, state(registry, 2));
    }
  }
}
