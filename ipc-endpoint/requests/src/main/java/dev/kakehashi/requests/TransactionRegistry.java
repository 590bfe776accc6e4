package dev.kakehashi.requests;

import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.messages.TransactionState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Outcomes of transactions: a Chronicle Map in the data directory, which any local tool can read, also when the endpoint is down.
///
/// A transaction enters when its commit begins, if it has written. Before that nobody asks for its outcome (a client that lost its
/// connection knows that it did not commit), and a read-only one has none. So point reads and whole read-only transactions never touch the
/// map; a commit costs two puts of a few hundred nanoseconds beside its flush. A put survives the death of the process, as the map is a
/// mapped file.
///
/// An outcome is kept for the retention time after the end of its transaction, unless so many later ones that the file is full push it out
/// before; then, and at each later commit that finds some, it goes. A prepared transaction has no end yet, and stays.
///
/// Thread-safe.
public final class TransactionRegistry implements AutoCloseable {
  /// @param state COMMITTED, ABORTED, PREPARED, or UNKNOWN while the commit has no result
  /// @param uid OS user that began it; [RequestClient#NO_UID]: unknown
  /// @param userKey of the user that owns it, see [TransactionOwner#userKey(String)]; 0: its owner is the OS user, or nobody in particular
  /// @param beganMillis since 1970
  /// @param endedMillis since 1970; 0: not yet
  public record Entry(
      TransactionState state, int uid, long userKey, long beganMillis, long endedMillis) {
    private static final int BYTES = 32;

    /// The log names the transaction with its commit: what is unknown after a crash can be learnt there. Entries of versions before that
    /// have 0.
    private static final byte NAMED_IN_LOG = 1;

    /// It has the key of its user. Entries of versions before that have a number in its place that nobody asks for, and belong to their OS
    /// user.
    private static final byte OF_USER = 2;

    /// @throws IllegalStateException if the value is none of an entry
    static void check(byte[] value) {
      if (value.length != BYTES
          || TransactionState.get((short) (value[0] & 0xFF)) == TransactionState.NULL_VAL) {
        throw new IllegalStateException("an entry cannot be read");
      }
    }

    static boolean isNamedInLog(byte[] value) {
      return (value[1] & NAMED_IN_LOG) != 0;
    }

    byte[] encode() {
      ByteBuffer bytes = ByteBuffer.allocate(BYTES);
      bytes.put((byte) state.value()).put((byte) (NAMED_IN_LOG | (userKey == 0 ? 0 : OF_USER)));
      bytes.put(new byte[2]).putInt(uid).putLong(userKey);
      return bytes.putLong(beganMillis).putLong(endedMillis).array();
    }

    static Entry decode(byte[] value) {
      ByteBuffer bytes = ByteBuffer.wrap(value);
      TransactionState state = TransactionState.get((short) (bytes.getInt() >>> 24 & 0xFF));
      int uid = bytes.getInt();
      long key = bytes.getLong();
      return new Entry(
          state, uid, (value[1] & OF_USER) == 0 ? 0 : key, bytes.getLong(), bytes.getLong());
    }

    /// Whether its outcome is somebody's to know. An outcome changes nothing any more, so the user alone decides, by whatever interface he
    /// comes.
    boolean isOf(TransactionOwner asker) {
      return userKey != 0
          ? userKey == asker.userKey()
          : uid == RequestClient.NO_UID || uid == asker.uid();
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(TransactionRegistry.class);
  private static final String FILE = "transactions";

  /// Where the time stands up to which entries may have been removed: an entry whose beginning is that. No handle is 0.
  private static final long REMOVED_UP_TO = 0;

  /// More than enter at a time, so that they do not pile up.
  private static final int EXPIRED_AT_ONCE = 4;

  private final ChronicleMap<Long, byte[]> map;
  private final int capacity;
  private final long retentionMillis;
  private final LongSupplier clock;
  private final ArrayDeque<Long> oldestFirst = new ArrayDeque<>(); // guarded by itself

  /// Entries that entered up to then, in milliseconds since 1970, may have been removed; later ones are all there. Written under the lock
  /// of this.
  private volatile long removedUpToMillis;

  /// Whether it has just been made, and knows nothing yet.
  private boolean isNew;

  /// Whether others end transactions, too, of which it does not hear: a missing entry says nothing then.
  private volatile boolean hasOthers;

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
  /// @throws IOException if the file cannot be read or made; one that is damaged is set aside
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
    return RegistryFile.open(
        dataDirectory.resolve(FILE), builder(capacity), TransactionRegistry::check);
  }

  private static ChronicleMapBuilder<Long, byte[]> builder(int capacity) {
    // Twice the room: an entry that was begun and never ended stays until it is the oldest.
    return ChronicleMap.of(Long.class, byte[].class)
        // Its owner closes it, after everybody who records outcomes: the library's hook would
        // at once.
        .skipCloseOnExitHook(true)
        .name(FILE)
        .entries(2L * capacity + 1)
        .constantValueSizeBySample(new byte[Entry.BYTES]);
  }

  private static void check(ChronicleMap<Long, byte[]> found) {
    long[] entries = new long[1];
    found.forEach((handle, value) -> {
      Entry.check(value);
      entries[0]++;
    });
    if (entries[0] != found.longSize()) {
      throw new IllegalStateException(
          "it has %d entries and counts %d".formatted(entries[0], found.longSize()));
    }
  }

  /// Problem with the registry of a data directory on which no endpoint runs: the next start sets it aside. Changes nothing there.
  ///
  /// @param capacity as it is opened with
  /// @return null: nothing
  public static @Nullable String problem(Path dataDirectory, int capacity) throws IOException {
    Path file = dataDirectory.resolve(FILE);
    return Files.exists(file)
        ? RegistryFile.problem(file, builder(capacity), TransactionRegistry::check)
        : null;
  }

  private void load() {
    byte[] mark = map.get(REMOVED_UP_TO);
    removedUpToMillis = mark == null ? clock.getAsLong() : Entry.decode(mark).beganMillis();
    isNew = mark == null;
    if (isNew) {
      markRemoved(removedUpToMillis);
    }
    List<Long> handles = new ArrayList<>(map.keySet());
    handles.remove(Long.valueOf(REMOVED_UP_TO));
    // The generation in the upper bits grows with time.
    handles.sort(Comparator.comparingLong(handle -> handle >>> 16));
    oldestFirst.addAll(handles);
    while (oldestFirst.size() > capacity) {
      remove(oldestFirst.remove()); // it was opened with more room before
    }
    expire();
  }

  /// Records what the log says of transactions whose end has not come to be recorded, because the endpoint ended before. Called before
  /// clients come.
  public void recover(RecoveredOutcomes outcomes) {
    int recovered = 0;
    int unknown = 0;
    for (Map.Entry<Long, byte[]> each : List.copyOf(map.entrySet())) {
      Entry entry = Entry.decode(each.getValue());
      long handle = each.getKey();
      Optional<Boolean> committed =
          switch (entry.state()) {
            case UNKNOWN -> outcomes.committed(handle);
            case PREPARED -> outcomes.decided(handle); // what still is has no decision
            default -> Optional.empty();
          };
      if (committed.isPresent() && Entry.isNamedInLog(each.getValue())) {
        ended(handle, entry.uid(), entry.userKey(), committed.get());
        recovered++;
      } else if (entry.state() == TransactionState.UNKNOWN) {
        unknown++;
      }
    }
    Map<Long, Boolean> named = new HashMap<>();
    outcomes.references().forEach(handle -> named.put(handle, true));
    if (isNew) {
      // The clock of a backup, or of a primary, may be ahead of ours. Its transactions are none
      // of those that would be here.
      outcomes.decisions().values().forEach(each -> named.put(each.reference(), each.committed()));
      named.keySet().stream()
          .mapToLong(TransactionRegistry::beganMillis)
          .filter(began -> began > removedUpToMillis)
          .max()
          .ifPresent(this::markRemoved);
    }
    for (Map.Entry<Long, Boolean> each : named.entrySet()) {
      long handle = each.getKey();
      if (!map.containsKey(handle) && (isNew || beganMillis(handle) > removedUpToMillis)) {
        ended(handle, TransactionOwner.ANYBODY, each.getValue());
        recovered++;
      }
    }
    if (recovered > 0) {
      LOG.info(
          "{} transactions were committing when the endpoint ended; the log has their outcome",
          recovered);
    }
    if (unknown > 0) {
      LOG.warn(
          "{} transactions were committing when an endpoint of an earlier version ended; their outcome is not recorded",
          unknown);
    }
  }

  /// Says that transactions are another endpoint's, whose log is followed here: nothing is known of those without an entry. Called before
  /// clients come.
  void followsOther() {
    hasOthers = true;
  }

  /// Forgets all outcomes of a data directory that nobody has open, because it goes on from another history. The next start learns
  /// again what its log names, and knows of the others that nothing is known.
  ///
  /// @throws IOException when it cannot be removed
  public static void forget(Path dataDirectory) throws IOException {
    Files.deleteIfExists(dataDirectory.resolve(FILE));
    Directories.force(dataDirectory);
  }

  /// A time not after the beginning of a transaction, in milliseconds since 1970.
  private static long beganMillis(long handle) {
    return TransactionTable.beganMillis(handle);
  }

  private void remove(long handle) {
    byte[] value = map.get(handle);
    if (value != null) {
      // Before the entry goes: a transaction that has begun later and has no entry never had one.
      long entered = Entry.decode(value).beganMillis();
      if (entered > removedUpToMillis) {
        markRemoved(entered);
      }
      map.remove(handle);
    }
  }

  private synchronized void markRemoved(long millis) {
    removedUpToMillis = Math.max(removedUpToMillis, millis);
    put(
        REMOVED_UP_TO,
        new Entry(TransactionState.NONE, RequestClient.NO_UID, 0, removedUpToMillis, 0));
  }

  /// The commit of a transaction that has written begins.
  void committing(long handle, TransactionOwner owner) {
    enter(
        handle,
        new Entry(TransactionState.UNKNOWN, owner.uid(), owner.userKey(), clock.getAsLong(), 0));
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
      remove(oldest);
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
          remove(handle);
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
  void prepared(long handle, TransactionOwner owner) {
    Entry before = find(handle);
    long began = before == null ? clock.getAsLong() : before.beganMillis();
    enter(handle, new Entry(TransactionState.PREPARED, owner.uid(), owner.userKey(), began, 0));
  }

  /// It has a result.
  void ended(long handle, TransactionOwner owner, boolean committed) {
    ended(handle, owner.uid(), owner.userKey(), committed);
  }

  private void ended(long handle, int uid, long userKey, boolean committed) {
    Entry before = find(handle);
    long now = clock.getAsLong();
    enter(
        handle,
        new Entry(
            committed ? TransactionState.COMMITTED : TransactionState.ABORTED,
            uid,
            userKey,
            before == null ? now : before.beganMillis(),
            now));
  }

  private void put(long handle, Entry entry) {
    map.put(handle, entry.encode());
  }

  /// Entry of a transaction; null: nothing is known (any more).
  public @Nullable Entry find(long handle) {
    byte[] value = handle == REMOVED_UP_TO ? null : map.get(handle);
    Entry entry = value == null ? null : Entry.decode(value);
    boolean gone = entry != null && entry.state() != TransactionState.PREPARED && isOver(entry);
    return gone ? null : entry;
  }

  /// Outcome of a transaction, for the user that asks. A transaction that has never begun to commit has no entry. It is known to be rolled
  /// back as long as entries of its time are kept.
  ///
  /// @param newest the handle given out last
  /// @return UNKNOWN also for what belongs to another user
  TransactionState state(long handle, TransactionOwner asker, long newest) {
    Entry entry = find(handle);
    if (entry != null) {
      return entry.isOf(asker) ? entry.state() : TransactionState.UNKNOWN;
    }
    boolean wouldBeThere =
        handle != REMOVED_UP_TO
            && !hasOthers
            && handle >>> 16 <= newest >>> 16
            && beganMillis(handle) > removedUpToMillis
            && clock.getAsLong() - beganMillis(handle) < retentionMillis;
    return wouldBeThere ? TransactionState.ABORTED : TransactionState.UNKNOWN;
  }

  public long size() {
    return map.longSize() - 1;
  }

  @Override
  public void close() {
    map.close();
  }
}
