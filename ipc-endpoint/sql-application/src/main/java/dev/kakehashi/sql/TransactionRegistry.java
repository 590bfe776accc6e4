package dev.kakehashi.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import net.openhft.chronicle.hash.ChronicleHashRecoveryFailedException;
import net.openhft.chronicle.map.ChronicleMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What became of transactions: a Chronicle Map in the data directory, which any local tool can read, also when the endpoint is down.
///
/// A transaction enters when its commit begins, if it has written: before that its outcome is nobody's question (a client that lost its
/// connection knows that it did not commit), and a read-only one has none. So point reads and whole read-only transactions never touch the map; a commit costs two puts of a
/// few hundred nanoseconds beside its flush. A put survives the death of the process, as the map is a mapped file.
///
/// An outcome is kept for the retention time after the end of its transaction, unless so many later ones that the file is full push it out before; then, and at each
/// later commit that finds some, it goes. What is prepared has no end yet, and stays.
///
/// Thread-safe.
public final class TransactionRegistry implements AutoCloseable {
  /// @param state COMMITTED, ABORTED, PREPARED, or UNKNOWN while the commit has no result
  /// @param uid OS user that owns it
  /// @param engineId the engine's number of the transaction
  /// @param beganMillis since 1970
  /// @param endedMillis since 1970; 0: not yet
  public record Entry(
      TransactionState state, int uid, long engineId, long beganMillis, long endedMillis) {
    private static final int BYTES = 32;

    byte[] encode() {
      ByteBuffer bytes = ByteBuffer.allocate(BYTES);
      bytes.put((byte) state.value()).put(new byte[3]).putInt(uid);
      return bytes.putLong(engineId).putLong(beganMillis).putLong(endedMillis).array();
    }

    static Entry decode(byte[] value) {
      ByteBuffer bytes = ByteBuffer.wrap(value);
      TransactionState state = TransactionState.get((short) (bytes.getInt() >>> 24));
      return new Entry(state, bytes.getInt(), bytes.getLong(), bytes.getLong(), bytes.getLong());
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(TransactionRegistry.class);
  private static final String FILE = "transactions";

  /// More than enter at a time, so that they do not pile up.
  private static final int EXPIRED_AT_ONCE = 4;

  private final ChronicleMap<Long, byte[]> map;
  private final int capacity;
  private final long retentionMillis;
  private final LongSupplier clock;
  private final ArrayDeque<Long> oldestFirst = new ArrayDeque<>(); // guarded by itself

  private TransactionRegistry(
      ChronicleMap<Long, byte[]> map, int capacity, long retentionMillis, LongSupplier clock) {
    this.map = map;
    this.capacity = capacity;
    this.retentionMillis = retentionMillis;
    this.clock = clock;
  }

  /// Opens or makes the registry.
  ///
  /// @param capacity most outcomes that are kept; the oldest goes first
  /// @param retention how long an outcome is kept
  /// @throws EngineException DATA_CORRUPTED if the file is not that of a registry, or its header is damaged
  public static TransactionRegistry open(Path dataDirectory, int capacity, Duration retention)
      throws IOException {
    return open(dataDirectory, capacity, retention, System::currentTimeMillis);
  }

  /// @param clock milliseconds since 1970
  static TransactionRegistry open(
      Path dataDirectory, int capacity, Duration retention, LongSupplier clock) throws IOException {
    Files.createDirectories(dataDirectory);
    TransactionRegistry registry =
        new TransactionRegistry(
            map(dataDirectory, capacity), capacity, retention.toMillis(), clock);
    registry.load();
    return registry;
  }

  private static ChronicleMap<Long, byte[]> map(Path dataDirectory, int capacity)
      throws IOException {
    File file = dataDirectory.resolve(FILE).toFile();
    // Twice the room: an entry that was begun and never ended stays until it is the oldest.
    var builder =
        ChronicleMap.of(Long.class, byte[].class)
            .name(FILE)
            .entries(2L * capacity)
            .constantValueSizeBySample(new byte[Entry.BYTES]);
    // An endpoint that was killed may have left locks in the file; recovery clears them, and costs
    // milliseconds.
    try {
      return file.exists()
          ? builder.recoverPersistedTo(file, false)
          : builder.createPersistedTo(file);
    } catch (ChronicleHashRecoveryFailedException e) {
      throw new EngineException(
              ErrorCode.DATA_CORRUPTED,
              "transaction registry \"%s\" is damaged: %s".formatted(file, e.getMessage()),
              e)
          .withHint(
              "Rows do not depend on it. Remove it, and nobody can ask for the outcome of a transaction that ended before.");
    }
  }

  private void load() {
    List<Long> handles = new ArrayList<>(map.keySet());
    // The generation in the upper bits grows with time.
    handles.sort(Comparator.comparingLong(handle -> handle >>> 16));
    oldestFirst.addAll(handles);
    while (oldestFirst.size() > capacity) {
      map.remove(oldestFirst.remove()); // it was opened with more room before
    }
    expire();
    int unknown = 0;
    for (Map.Entry<Long, byte[]> entry : map.entrySet()) {
      if (Entry.decode(entry.getValue()).state() == TransactionState.UNKNOWN) {
        unknown++;
      }
    }
    if (unknown > 0) {
      LOG.warn(
          "{} transactions were committing when the endpoint ended; their outcome is not recorded",
          unknown);
    }
  }

  /// The commit of a transaction that has written begins.
  void committing(long handle, int uid, long engineId) {
    enter(handle, new Entry(TransactionState.UNKNOWN, uid, engineId, clock.getAsLong(), 0));
  }

  private void enter(long handle, Entry entry) {
    boolean known = map.containsKey(handle);
    put(handle, entry);
    if (known) {
      return;
    }
    Long oldest = null;
    synchronized (oldestFirst) {
      oldestFirst.add(handle);
      if (oldestFirst.size() > capacity) {
        oldest = oldestFirst.remove();
      }
    }
    if (oldest != null) {
      map.remove(oldest);
    }
    expire();
  }

  /// Removes some of the outcomes whose time is over.
  private void expire() {
    for (int i = 0; i < EXPIRED_AT_ONCE; i++) {
      synchronized (oldestFirst) {
        Long handle = oldestFirst.peek();
        byte[] value = handle == null ? null : map.get(handle);
        if (handle == null || (value != null && !isOver(Entry.decode(value)))) {
          return;
        }
        oldestFirst.remove();
        if (value != null && Entry.decode(value).state() == TransactionState.PREPARED) {
          oldestFirst.add(handle); // it must not keep those behind it
        } else {
          map.remove(handle);
        }
      }
    }
  }

  /// Whether its place among the oldest is due: since its end, or its beginning if that is not known, the retention has passed.
  private boolean isOver(Entry entry) {
    long last = entry.endedMillis() != 0 ? entry.endedMillis() : entry.beganMillis();
    return clock.getAsLong() - last >= retentionMillis;
  }

  /// It is prepared. The outcome of what waits for its decision is kept, as of all others, until so many later ones have pushed it out.
  void prepared(long handle, int uid, long engineId) {
    Entry before = find(handle);
    long began = before == null ? clock.getAsLong() : before.beganMillis();
    enter(handle, new Entry(TransactionState.PREPARED, uid, engineId, began, 0));
  }

  /// It has a result.
  void ended(long handle, int uid, long engineId, boolean committed) {
    Entry before = find(handle);
    long now = clock.getAsLong();
    enter(
        handle,
        new Entry(
            committed ? TransactionState.COMMITTED : TransactionState.ABORTED,
            uid,
            engineId,
            before == null ? now : before.beganMillis(),
            now));
  }

  private void put(long handle, Entry entry) {
    map.put(handle, entry.encode());
  }

  /// What is known of a transaction; null: nothing (any more).
  public @Nullable Entry find(long handle) {
    byte[] value = map.get(handle);
    Entry entry = value == null ? null : Entry.decode(value);
    boolean gone = entry != null && entry.state() != TransactionState.PREPARED && isOver(entry);
    return gone ? null : entry;
  }

  public long size() {
    return map.longSize();
  }

  @Override
  public void close() {
    map.close();
  }
}
