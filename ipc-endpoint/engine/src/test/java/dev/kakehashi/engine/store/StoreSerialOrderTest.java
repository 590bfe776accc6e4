package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Random serializable transactions over a few keys, interleaved at random by one thread: what those have seen that committed, read-only
/// ones among them, and what they have left is what some order of them one after another gives. All orders are tried, in thousands of small
/// histories. `-Dkakehashi.rounds` makes it longer.
final class StoreSerialOrderTest extends StoreTestBase {
  private static final int ROUNDS = Integer.getInteger("kakehashi.rounds", 2000);
  private static final int KEYS = 3;
  private static final int MOST_TRANSACTIONS = 5;

  private static final List<Verb> VERBS = List.of(Verb.values());
  private static final List<Verb> READS = List.of(Verb.GET, Verb.RANGE, Verb.ALL);

  private long lastValue;
  private int committed;
  private int refusedCommits;
  private int waits;

  private enum Verb {
    GET,
    RANGE,
    ALL,
    LOCK,
    INSERT,
    UPDATE,
    DELETE
  }

  /// With keys `[from, to]`.
  private record Operation(Verb verb, long from, long to, long value) {
    /// Result of the operation, and its effect on the rows, when nobody else is there.
    List<Long> apply(NavigableMap<Long, Long> rows) {
      var part = rows.subMap(from, true, to, true);
      List<Long> found = flat(part);
      switch (verb) {
        case GET, RANGE, ALL, LOCK -> {}
        case INSERT -> rows.put(from, value);
        case UPDATE -> part.replaceAll((key, old) -> value);
        case DELETE -> part.clear();
      }
      return found;
    }
  }

  private static List<Long> flat(Map<Long, Long> rows) {
    List<Long> flat = new ArrayList<>();
    rows.forEach((key, value) -> {
      flat.add(key);
      flat.add(value);
    });
    return flat;
  }

  private static final class Client {
    final boolean readOnly;
    final int operations;
    final List<Operation> done = new ArrayList<>();
    final List<List<Long>> seen = new ArrayList<>();
    final StoreTransaction transaction;
    int tries;
    boolean ended;
    boolean committed;

    Client(StoreTransaction transaction, boolean readOnly, int operations) {
      this.transaction = transaction;
      this.readOnly = readOnly;
      this.operations = operations;
    }

    @Override
    public String toString() {
      return done + (readOnly ? " read-only" : "") + " saw " + seen;
    }
  }

  @Test
  void shouldGiveWhatSomeSerialOrderGives() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of StoreSerialOrderTest: " + seed);
    Random random = new Random(seed);
    for (int round = 0; round < ROUNDS; round++) {
      assertEquals("", round(random), "seed " + seed + ", round " + round);
    }
    System.out.println(committed + " committed, " + refusedCommits + " refused at their commit");
    assertTrue(committed > ROUNDS && refusedCommits > ROUNDS / 100, "seed " + seed);
    assertTrue(waits > ROUNDS / 100, "seed " + seed);
  }

  /// @return empty, or what is wrong
  private String round(Random random) {
    NavigableMap<Long, Long> before = state();
    List<Client> clients = new ArrayList<>();
    List<Client> running = new ArrayList<>();
    int left = 3 + random.nextInt(MOST_TRANSACTIONS - 2);
    while (left > 0 || !running.isEmpty()) {
      if (left > 0 && (running.isEmpty() || random.nextInt(3) == 0)) {
        boolean readOnly = random.nextInt(4) == 0;
        StoreTransaction begun =
            readOnly && random.nextBoolean()
                ? store.beginDeferrable()
                : store.begin(readOnly, true);
        Client client = new Client(begun, readOnly, 1 + random.nextInt(4));
        clients.add(client);
        running.add(client);
        left--;
      }
      Client next = running.get(random.nextInt(running.size()));
      if (!next.transaction.hasSafeSnapshot(() -> {})) {
        waits++;
        assertFalse(next.transaction.waitedFor().isEmpty(), "it waits for nobody");
        if (random.nextInt(10) == 0) {
          end(next);
        }
      } else if (next.done.size() < next.operations && next.tries++ < 10) {
        step(next, operation(random, next.readOnly));
      } else {
        end(next);
      }
      running.removeIf(each -> each.ended);
    }
    List<Client> winners = clients.stream().filter(client -> client.committed).toList();
    committed += winners.size();
    return isSerial(before, state(), winners)
        ? ""
        : "no order gives this: from " + before + " to " + state() + " by " + winners;
  }

  private NavigableMap<Long, Long> state() {
    TreeMap<Long, Long> state = new TreeMap<>();
    rows().forEach(row -> state.put((Long) row.values().get(0), (Long) row.values().get(2)));
    return state;
  }

  private Operation operation(Random random, boolean reads) {
    List<Verb> verbs = reads ? READS : VERBS;
    Verb verb = verbs.get(random.nextInt(verbs.size()));
    long key = random.nextInt(KEYS);
    long other = random.nextInt(KEYS);
    return switch (verb) {
      case GET, LOCK -> new Operation(verb, key, key, 0);
      case RANGE, DELETE -> new Operation(verb, Math.min(key, other), Math.max(key, other), 0);
      case ALL -> new Operation(verb, 0, KEYS, 0);
      case INSERT, UPDATE -> new Operation(verb, key, key, ++lastValue);
    };
  }

  private void step(Client client, Operation operation) {
    StoreTransaction transaction = client.transaction;
    long mark = transaction.mark();
    try {
      List<Long> found = run(transaction, operation);
      if (found != null) {
        client.done.add(operation);
        client.seen.add(found);
      }
    } catch (RowConflict conflict) {
      transaction.rollbackTo(mark);
      if (conflict.kind() != RowConflict.Kind.OWNER_ACTIVE) {
        transaction.abort();
        client.ended = true;
      }
    } catch (DuplicateKey duplicate) {
      // It was looked for, and not there.
      throw new AssertionError("duplicate key after " + client, duplicate);
    }
  }

  /// @return what it has found; null: it would insert what is there
  private @Nullable List<Long> run(StoreTransaction transaction, Operation operation) {
    ReadView view = transaction.beginStatement();
    List<Rows.Row> rows =
        new ArrayList<>(
            operation.verb == Verb.ALL
                ? Rows.scan(table, view)
                : Rows.indexScan(
                    table,
                    view,
                    PRIMARY,
                    new KeyRange(
                        0, new long[0], true, operation.from, true, true, operation.to, true)));
    rows.sort(Comparator.comparing(row -> (Long) row.values().get(0)));
    TreeMap<Long, Long> found = new TreeMap<>();
    for (Rows.Row row : rows) {
      found.put((Long) row.values().get(0), (Long) row.values().get(2));
      switch (operation.verb) {
        case LOCK -> table.lock(transaction, row.rowId(), LockStrength.UPDATE);
        case UPDATE ->
            Rows.update(
                table, transaction, row.rowId(), row.values().get(0), "name", operation.value);
        case DELETE -> table.delete(transaction, row.rowId());
        default -> {}
      }
    }
    if (operation.verb == Verb.INSERT) {
      if (!rows.isEmpty()) {
        return null;
      }
      Rows.insert(table, transaction, operation.from, "name", operation.value);
    }
    return flat(found);
  }

  private void end(Client client) {
    client.ended = true;
    try {
      Rows.commit(client.transaction, false);
      client.committed = true;
    } catch (RowConflict refused) {
      assertFalse(client.readOnly, "a read-only transaction was refused");
      refusedCommits++;
    }
  }

  /// Whether the transactions, one after another in some order, see what they have seen and leave what is there.
  private static boolean isSerial(
      NavigableMap<Long, Long> before, NavigableMap<Long, Long> after, List<Client> left) {
    if (left.isEmpty()) {
      return before.equals(after);
    }
    for (Client first : left) {
      NavigableMap<Long, Long> rows = new TreeMap<>(before);
      boolean same = true;
      for (int i = 0; i < first.done.size() && same; i++) {
        same = first.done.get(i).apply(rows).equals(first.seen.get(i));
      }
      if (same && isSerial(rows, after, left.stream().filter(each -> each != first).toList())) {
        return true;
      }
    }
    return false;
  }
}
