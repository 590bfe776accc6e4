package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Random serializable transactions over two tables that mostly have no rows at first, their statements interleaved at random: what those
/// have seen that committed, and what they have left, is what some order of them one after another gives.
///
/// Nothing is left to chance but the seed: one thread runs all statements, and none that would wait. All orders are tried. The transactions
/// of a round are few, and there are many rounds.
final class SerialOrderTest {
  private static final int ROUNDS = Integer.getInteger("kakehashi.rounds", 150);
  private static final int KEYS = 3;
  private static final int MOST_TRANSACTIONS = 4;

  private static final List<Verb> VERBS = List.of(Verb.values());
  private static final List<Verb> READS = VERBS.stream().filter(verb -> !verb.writes).toList();

  @TempDir Path directory;

  private final Map<String, Statement> statements = new HashMap<>();
  private int lastValue;
  private int committed;
  private int refused;

  /// Action of a statement, with keys `[from, to]`.
  private enum Verb {
    SUM("select count(*), sum(v) from %s", false),
    GET("select v from %s where k = $1", false),
    RANGE("select k, v from %s where k between $1 and $2 order by k", false),
    FIRST("select k from %s where k >= $1 order by k limit 1", false),
    INSERT("insert into %s values ($1, $2)", true),
    UPDATE("update %s set v = $2 where k = $1", true),
    UPDATE_ALL("update %s set v = $1", true),
    DELETE("delete from %s where k = $1", true),
    DELETE_RANGE("delete from %s where k between $1 and $2", true);

    final String sql;

    final boolean writes;

    Verb(String sql, boolean writes) {
      this.sql = sql;
      this.writes = writes;
    }
  }

  /// @param value unique; of those that write one
  private record Operation(Verb verb, int table, int from, int to, int value) {
    Integer[] parameters() {
      return switch (verb) {
        case SUM -> new Integer[] {};
        case GET, FIRST, DELETE -> new Integer[] {from};
        case RANGE, DELETE_RANGE -> new Integer[] {from, to};
        case INSERT, UPDATE -> new Integer[] {from, value};
        case UPDATE_ALL -> new Integer[] {value};
      };
    }

    boolean meets(Operation other) {
      return table == other.table && from <= other.to && other.from <= to;
    }

    /// Does the operation as if it were alone, and gives its result.
    String apply(List<NavigableMap<Integer, Integer>> tables) {
      NavigableMap<Integer, Integer> rows = tables.get(table);
      NavigableMap<Integer, Integer> part = rows.subMap(from, true, to, true);
      int count = part.size();
      switch (verb) {
        case SUM -> {
          int sum = part.values().stream().mapToInt(Integer::intValue).sum();
          return "[" + count + "|" + (count == 0 ? "NULL" : sum) + "]";
        }
        case GET -> {
          return List.copyOf(part.values()).toString();
        }
        case RANGE -> {
          List<String> found = new ArrayList<>();
          part.forEach((k, v) -> found.add(k + "|" + v));
          return found.toString();
        }
        case FIRST -> {
          return count == 0 ? "[]" : "[" + part.firstKey() + "]";
        }
        case INSERT -> {
          if (count > 0) {
            return "23505";
          }
          rows.put(from, value);
          return "1";
        }
        case UPDATE, UPDATE_ALL -> part.replaceAll((k, v) -> value);
        case DELETE, DELETE_RANGE -> part.clear();
      }
      return Integer.toString(count);
    }

    @Override
    public String toString() {
      return verb + " t" + table + " " + from + ".." + to + (value == 0 ? "" : " = " + value);
    }
  }

  /// One transaction and what it has seen.
  private static final class Client {
    final boolean readOnly;
    final int operations;
    final List<Operation> done = new ArrayList<>();
    final List<String> seen = new ArrayList<>();

    /// Null: it has not begun.
    @Nullable EngineTransaction transaction;

    boolean ended;
    boolean committed;

    Client(boolean readOnly, int operations) {
      this.readOnly = readOnly;
      this.operations = operations;
    }

    /// Whether it keeps others from what they want to change.
    boolean holds(Operation wanted) {
      return !ended && done.stream().anyMatch(each -> each.verb.writes && each.meets(wanted));
    }

    @Override
    public String toString() {
      return done + (readOnly ? " read-only" : "") + " -> " + seen;
    }

    /// Whether it has looked for the key that it inserts, and has not had it since.
    boolean hasFoundNone(Operation insert) {
      for (int i = 0; i < done.size(); i++) {
        Operation each = done.get(i);
        if (each.verb.writes && each.meets(insert)) {
          return false;
        }
        boolean looks = each.verb == Verb.GET || each.verb == Verb.RANGE;
        if (looks && each.meets(insert) && seen.get(i).equals("[]")) {
          return true;
        }
      }
      return false;
    }
  }

  @Test
  void shouldGiveWhatSomeSerialOrderGives() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of SerialOrderTest: " + seed);
    Random random = new Random(seed);
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t0 (k int primary key, v int not null)");
      engine.run("create table t1 (k int primary key, v int not null)");
      for (int round = 0; round < ROUNDS; round++) {
        String found = round(engine, random);
        assertEquals("", found, "seed " + seed + ", round " + round);
      }
    }
    System.out.println(committed + " committed, " + refused + " refused");
    assertTrue(committed > ROUNDS && refused > 0, committed + ", " + refused);
  }

  /// @return empty, or what is wrong
  private String round(TestEngine engine, Random random) {
    List<NavigableMap<Integer, Integer>> before = List.of(new TreeMap<>(), new TreeMap<>());
    for (int table = 0; table < 2; table++) {
      // Without pages, or with rows that are gone.
      if (random.nextInt(16) == 0) {
        engine.run("truncate t" + table);
      } else {
        alone(engine, "delete from t" + table);
      }
      if (random.nextInt(3) == 0) {
        before.get(table).put(random.nextInt(KEYS), ++lastValue);
        before.get(table).put(random.nextInt(KEYS), ++lastValue);
        fill(engine, table, before.get(table));
      }
    }
    List<Client> clients = new ArrayList<>();
    int count = MOST_TRANSACTIONS - random.nextInt(2);
    for (int i = 0; i < count; i++) {
      clients.add(new Client(random.nextInt(5) == 0, 2 + random.nextInt(2)));
    }
    List<Client> running = new ArrayList<>(clients);
    while (!running.isEmpty()) {
      Client next = running.get(random.nextInt(running.size()));
      if (next.done.size() < next.operations) {
        step(engine, random, clients, next);
      } else {
        end(engine, next);
      }
      running.removeIf(each -> each.ended);
    }
    List<NavigableMap<Integer, Integer>> after = List.of(new TreeMap<>(), new TreeMap<>());
    for (int table = 0; table < 2; table++) {
      for (String row : alone(engine, "select k, v from t" + table).rows()) {
        int bar = row.indexOf('|');
        after
            .get(table)
            .put(Integer.valueOf(row.substring(0, bar)), Integer.valueOf(row.substring(bar + 1)));
      }
    }
    List<Client> winners = clients.stream().filter(client -> client.committed).toList();
    committed += winners.size();
    refused += clients.size() - winners.size();
    return isSerial(before, after, winners)
        ? ""
        : "no order gives this: from " + before + " to " + after + " by " + winners;
  }

  private void fill(TestEngine engine, int table, Map<Integer, Integer> rows) {
    Client client = new Client(false, 0);
    rows.forEach((k, v) -> {
      Operation insert = new Operation(Verb.INSERT, table, k, k, v);
      engine.execute(
          begun(engine, client), statement(engine, insert), new Integer[][] {insert.parameters()});
    });
    end(engine, client);
  }

  private Statement statement(TestEngine engine, Operation operation) {
    return statement(engine, operation.verb.sql.formatted("t" + operation.table));
  }

  private Statement statement(TestEngine engine, String sql) {
    return statements.computeIfAbsent(sql, engine::prepare);
  }

  private TestEngine.Result alone(TestEngine engine, String sql) {
    Client client = new Client(false, 0);
    TestEngine.Result result =
        engine.execute(begun(engine, client), statement(engine, sql), new Integer[][] {{}});
    end(engine, client);
    return result;
  }

  private static EngineTransaction begun(TestEngine engine, Client client) {
    EngineTransaction present = client.transaction;
    if (present == null) {
      Kind kind = client.readOnly ? Kind.RTX : Kind.OCC;
      present = engine.engine.begin(new BeginOptions(kind, Isolation.SERIALIZABLE, "test"));
      client.transaction = present;
    }
    return present;
  }

  private void step(TestEngine engine, Random random, List<Client> clients, Client client) {
    Operation operation = operation(random, client.readOnly || random.nextInt(3) == 0);
    while (operation.verb.writes && isHeld(clients, client, operation)) {
      operation = operation(random, true);
    }
    try {
      TestEngine.Result result =
          engine.execute(
              begun(engine, client),
              statement(engine, operation),
              new Integer[][] {operation.parameters()});
      client.done.add(operation);
      client.seen.add(
          operation.verb.writes ? Long.toString(result.count()) : result.rows().toString());
    } catch (EngineException failure) {
      String state = failure.code().sqlstate();
      boolean duplicate = operation.verb == Verb.INSERT && state.equals("23505");
      assertTrue(state.equals("40001") || duplicate, failure + " of " + operation);
      assertTrue(
          !duplicate || !client.hasFoundNone(operation), operation + " after " + client.done);
      engine.rollback(begun(engine, client));
      client.ended = true;
    }
  }

  private static boolean isHeld(List<Client> clients, Client client, Operation operation) {
    return clients.stream().anyMatch(other -> other != client && other.holds(operation));
  }

  private Operation operation(Random random, boolean reads) {
    List<Verb> verbs = reads ? READS : VERBS;
    Verb verb = verbs.get(random.nextInt(verbs.size()));
    int table = random.nextInt(2);
    int key = random.nextInt(KEYS);
    int other = random.nextInt(KEYS);
    return switch (verb) {
      case SUM -> new Operation(verb, table, 0, KEYS, 0);
      case GET, DELETE -> new Operation(verb, table, key, key, 0);
      case FIRST -> new Operation(verb, table, key, KEYS, 0);
      case RANGE, DELETE_RANGE ->
          new Operation(verb, table, Math.min(key, other), Math.max(key, other), 0);
      case INSERT, UPDATE -> new Operation(verb, table, key, key, ++lastValue);
      case UPDATE_ALL -> new Operation(verb, table, 0, KEYS, ++lastValue);
    };
  }

  private static void end(TestEngine engine, Client client) {
    client.ended = true;
    try {
      engine.commit(begun(engine, client));
      client.committed = true;
    } catch (EngineException refused) {
      assertEquals("40001", refused.code().sqlstate(), refused.getMessage());
      assertFalse(client.readOnly, "a read-only transaction was refused");
    }
  }

  /// Whether the transactions, one after another in some order, see what they have seen and leave what is there.
  private static boolean isSerial(
      List<NavigableMap<Integer, Integer>> before,
      List<NavigableMap<Integer, Integer>> after,
      List<Client> left) {
    if (left.isEmpty()) {
      return before.equals(after);
    }
    for (Client first : left) {
      List<NavigableMap<Integer, Integer>> tables =
          List.of(new TreeMap<>(before.get(0)), new TreeMap<>(before.get(1)));
      boolean same = true;
      for (int i = 0; i < first.done.size() && same; i++) {
        same = first.done.get(i).apply(tables).equals(first.seen.get(i));
      }
      if (same && isSerial(tables, after, left.stream().filter(each -> each != first).toList())) {
        return true;
      }
    }
    return false;
  }
}
