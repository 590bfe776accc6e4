package dev.kakehashi.requests;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.protocol.messages.TransactionState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.values.Values;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// How long, and how many, outcomes are kept.
final class TransactionRegistryTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final long HOUR_MILLIS = HOUR.toMillis();

  private static final TransactionOwner ALICE = TransactionOwner.of("alice", 7);
  private static final TransactionOwner BOB = TransactionOwner.of("bob", 7);

  @TempDir private Path directory;
  private final AtomicLong now = new AtomicLong(1_800_000_000_000L);

  private TransactionRegistry open(int capacity) throws IOException {
    return TransactionRegistry.open(directory, capacity, HOUR, now::get);
  }

  private static long handle(long number) {
    return number << 16;
  }

  private static void commit(TransactionRegistry registry, long number) {
    registry.committing(handle(number), ALICE);
    registry.ended(handle(number), ALICE, true);
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

  /// Damages that a killed endpoint, a bad disk or a hand may leave in the file's place.
  static Stream<Arguments> damages() {
    return Stream.of(
        arguments("bit of the header", damage(bytes -> bytes[200] ^= 0x40)),
        arguments("header without an end", damage(bytes -> bytes[11] |= (byte) 0x80)),
        arguments("zeros", damage(bytes -> Arrays.fill(bytes, (byte) 0))),
        arguments(
            "numbers behind the header",
            damage(bytes -> Arrays.fill(bytes, 1700, 5796, (byte) 0x5a))),
        arguments("five bytes", (UnaryOperator<byte[]>) bytes -> Arrays.copyOf(bytes, 5)),
        arguments("half a header", (UnaryOperator<byte[]>) bytes -> Arrays.copyOf(bytes, 700)),
        arguments(
            "another file",
            (UnaryOperator<byte[]>) bytes -> "something else".repeat(99).getBytes(US_ASCII)));
  }

  private static UnaryOperator<byte[]> damage(Consumer<byte[]> change) {
    return bytes -> {
      change.accept(bytes);
      return bytes;
    };
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("damages")
  @Timeout(30) // the library waits 60 seconds for a header that is not complete
  void shouldSetADamagedFileAsideAndGoOn(String name, UnaryOperator<byte[]> damage)
      throws IOException {
    try (TransactionRegistry registry = open(128)) {
      commit(registry, 1);
    }
    Path file = directory.resolve("transactions");
    byte[] damaged = damage.apply(Files.readAllBytes(file));
    Files.write(file, damaged);
    assertNotNull(TransactionRegistry.problem(directory, 128));
    assertArrayEquals(damaged, Files.readAllBytes(file));
    try (TransactionRegistry registry = open(128)) {
      assertEquals(0, registry.size());
      commit(registry, 2);
    }
    assertTrue(Files.exists(directory.resolve("transactions.damaged")));
    assertNull(TransactionRegistry.problem(directory, 128));
    try (TransactionRegistry registry = open(128)) {
      assertEquals(TransactionState.COMMITTED, state(registry, 2));
    }
  }

  @Test
  void shouldBeginAnewWhereTheFileIsEmpty() throws IOException {
    Files.createFile(directory.resolve("transactions"));
    assertNull(TransactionRegistry.problem(directory, 128));
    try (TransactionRegistry registry = open(128)) {
      commit(registry, 1);
      assertEquals(1, registry.size());
    }
    assertTrue(Files.notExists(directory.resolve("transactions.damaged")));
  }

  /// Handles of one place, and of another.
  private long handleAt(int place, long minutes) {
    long millis = now.get() - 1_767_225_600_000L + Duration.ofMinutes(minutes).toMillis();
    return ((millis * 125) << 16) | place;
  }

  private static TransactionState asked(TransactionRegistry registry, long handle) {
    return registry.state(handle, ALICE, Long.MAX_VALUE);
  }

  @Test
  void shouldLearnFromTheLogHowTransactionsEndedThatWereCommitting() throws IOException {
    long committed = handleAt(1, 1);
    long lost = handleAt(2, 2);
    long covered = handleAt(3, 3);
    long decided = handleAt(4, 4);
    long unrecorded = handleAt(5, 5);
    try (TransactionRegistry registry = open(128)) {
      for (long handle : new long[] {committed, lost, covered}) {
        registry.committing(handle, ALICE);
      }
      registry.prepared(decided, ALICE);
    }
    now.addAndGet(HOUR_MILLIS / 6);
    try (TransactionRegistry registry = open(128)) {
      registry.recover(
          new RecoveredOutcomes(
              Map.of(1, committed, 2, lost - (1 << 16), 3, covered + (1 << 16), 5, unrecorded),
              Map.of(4, new RecoveredOutcomes.Decision(decided, false)),
              true));
      assertEquals(TransactionState.COMMITTED, asked(registry, committed));
      assertEquals(TransactionState.ABORTED, asked(registry, lost));
      assertEquals(TransactionState.UNKNOWN, asked(registry, covered));
      assertEquals(TransactionState.ABORTED, asked(registry, decided));
      assertEquals(TransactionState.COMMITTED, asked(registry, unrecorded));
      // It has never begun to commit.
      assertEquals(TransactionState.ABORTED, asked(registry, handleAt(6, 6)));
      assertEquals(TransactionState.UNKNOWN, registry.state(committed, BOB, Long.MAX_VALUE));
    }
  }

  /// Entry of the version before users owned transactions: 32 bytes with the OS user, and the engine's number where the user's key is now.
  private static byte[] entryOfOsUser(long began) {
    return ByteBuffer.allocate(32)
        .put((byte) TransactionState.COMMITTED.value())
        .put((byte) 1)
        .put(new byte[2])
        .putInt(7)
        .putLong(4711)
        .putLong(began)
        .putLong(began)
        .array();
  }

  @Test
  void shouldStillAnswerForOutcomesOfOsUsers() throws IOException {
    long handle = handleAt(1, 0);
    try (ChronicleMap<Long, byte[]> before =
        ChronicleMap.of(Long.class, byte[].class)
            .name("transactions")
            .entries(2 * 128 + 1)
            .constantValueSizeBySample(new byte[32])
            .createPersistedTo(directory.resolve("transactions").toFile())) {
      before.put(handle, entryOfOsUser(now.get()));
    }
    try (TransactionRegistry registry = open(128)) {
      assertEquals(TransactionState.COMMITTED, asked(registry, handle));
      assertEquals(
          TransactionState.COMMITTED,
          registry.state(handle, BOB, Long.MAX_VALUE),
          "the same OS user");
      for (int uid : new int[] {8, RequestClient.NO_UID}) {
        assertEquals(
            TransactionState.UNKNOWN,
            registry.state(handle, TransactionOwner.of("alice", uid), Long.MAX_VALUE));
      }
      // A transaction that ends now has its user.
      commit(registry, 1);
      assertEquals(
          TransactionState.COMMITTED,
          registry.state(handle(1), TransactionOwner.of("alice", 8), Long.MAX_VALUE));
      assertEquals(TransactionState.UNKNOWN, registry.state(handle(1), BOB, Long.MAX_VALUE));
    }
  }

  @Test
  void shouldNotJudgeWhatItMayHaveForgotten() throws IOException {
    try (TransactionRegistry registry = open(128)) {
      long early = handleAt(1, -1);
      assertEquals(
          TransactionState.UNKNOWN, asked(registry, early), "before the registry was made");
      long pushedOut = handleAt(2, 1);
      now.addAndGet(HOUR_MILLIS / 6);
      for (long i = 1; i <= 200; i++) {
        commit(registry, i);
      }
      assertEquals(TransactionState.UNKNOWN, asked(registry, pushedOut));
      long later = handleAt(3, 1);
      assertEquals(TransactionState.ABORTED, asked(registry, later));
      assertEquals(
          TransactionState.UNKNOWN,
          registry.state(later, ALICE, later - (1 << 16)),
          "not given out");
      now.addAndGet(2 * HOUR_MILLIS);
      assertEquals(TransactionState.UNKNOWN, asked(registry, later), "its time is over");
    }
  }

  @Test
  void shouldCountTheTimeFromTheEnd() throws IOException {
    try (TransactionRegistry registry = open(128)) {
      registry.committing(handle(1), ALICE);
      now.addAndGet(HOUR_MILLIS / 2);
      registry.ended(handle(1), ALICE, false);
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
      registry.prepared(handle(1), ALICE);
      commit(registry, 2);
      now.addAndGet(3 * HOUR_MILLIS);
      commit(registry, 3);
      commit(registry, 4);
      assertEquals(TransactionState.PREPARED, state(registry, 1));
      assertNull(registry.find(handle(2)));
      assertEquals(3, registry.size());
      registry.ended(handle(1), ALICE, true);
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
