package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.server.History.Append;
import dev.kakehashi.server.History.Outcome;
import dev.kakehashi.server.History.Read;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Random transactions of several clients against an endpoint that is killed in between, and a check of the history that they saw.
///
/// They append to lists that may not be there yet, read lists by key and by range (so rows come into ranges that others have read), move
/// money between accounts, and add all accounts up. Some are long transactions, which are never refused. `-Dkakehashi.kills` makes it as
/// long as one likes.
class HistoryTest {
  private static final List<Area> AREAS = List.of(Area.values());
  private static final int CLIENTS = 4;
  private static final int KEYS = 12;
  private static final int ACCOUNTS = 8;
  private static final long MONEY = 100L * ACCOUNTS;
  private static final int COMMITS_BEFORE_KILL = Integer.getInteger("kakehashi.historyCommits", 60);
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 2);
  private final History history = new History(); // guarded by itself
  private final AtomicLong values = new AtomicLong();
  private final AtomicInteger longCommits = new AtomicInteger();
  private final AtomicInteger refusals = new AtomicInteger();

  @Test
  @Timeout(3600)
  void shouldBeSerializable() throws Exception {
    runAndCheck(IsolationLevel.SERIALIZABLE);
  }

  @Test
  @Timeout(3600)
  void shouldBeSnapshotIsolation() throws Exception {
    runAndCheck(IsolationLevel.REPEATABLE_READ);
  }

  private void runAndCheck(IsolationLevel isolation) throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed " + seed);
    try (EndpointProcess endpoint = EndpointProcess.open()) {
      try (Session session = endpoint.attach()) {
        session.execute("create table lists (k int8 primary key, v text not null)");
        session.execute("create table accounts (id int8 primary key, balance int8 not null)");
        for (long id = 0; id < ACCOUNTS; id++) {
          session.execute("insert into accounts values (" + id + ", 100)");
        }
      }
      ClientLoad load = new ClientLoad(endpoint);
      for (int c = 0; c < CLIENTS; c++) {
        Client client = new Client(load, isolation, "client" + c, new Random(seed + c));
        load.add(client.name, session -> client.new Life(session)::one);
      }
      load.run(COMMITS_BEFORE_KILL, KILLS, () -> {});
      try (Session session = endpoint.attach()) {
        Map<Long, List<Long>> finals = finals(session);
        List<String> findings = history.check(finals, isolation == IsolationLevel.SERIALIZABLE);
        assertEquals(List.of(), findings, "seed " + seed);
        assertEquals(MONEY, money(session));
      }
      System.out.println(
          history.size()
              + " transactions, "
              + load.commits()
              + " committed, of them "
              + longCommits
              + " long ones, "
              + refusals
              + " refused, "
              + KILLS
              + " kills");
      assertTrue(longCommits.get() > 0, "no long transaction committed, seed " + seed);
      assertTrue(refusals.get() > 0, "nothing ever conflicted, seed " + seed);
    }
  }

  private static Map<Long, List<Long>> finals(Session session) {
    Map<Long, List<Long>> finals = new TreeMap<>();
    try (PreparedStatement all = session.prepare("select k, v from lists");
        Rows rows = session.query(all)) {
      while (rows.next()) {
        finals.put(rows.getLong(0), list(rows.getString(1)));
      }
    }
    return finals;
  }

  private static long money(Session session) {
    try (PreparedStatement sum = session.prepare("select sum(balance)::int8 from accounts");
        Rows rows = session.query(sum)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  private static List<Long> list(String text) {
    return Arrays.stream(text.split(",", -1)).map(Long::valueOf).toList();
  }

  /// Tables that a transaction changes; it reads all.
  private enum Area {
    ALL("lists, accounts", 0, 6),
    LISTS("lists", 0, 4),
    ACCOUNTS("accounts", 2, 4);

    final String tables;
    final int first;
    final int operations;

    Area(String tables, int first, int operations) {
      this.tables = tables;
      this.first = first;
      this.operations = operations;
    }
  }

  /// One client: a session for each life of the endpoint, one transaction after the other.
  private final class Client {
    private final ClientLoad load;
    private final TransactionOptions options;
    private final String name;
    private final Random random;
    private int count;

    Client(ClientLoad load, IsolationLevel isolation, String name, Random random) {
      this.load = load;
      this.options = TransactionOptions.DEFAULT.withIsolation(isolation);
      this.name = name;
      this.random = random;
    }

    /// Work of one session until the endpoint dies.
    private final class Life {
      private final Session session;
      private final PreparedStatement append;
      private final PreparedStatement insert;
      private final PreparedStatement read;
      private final PreparedStatement range;
      private final PreparedStatement pay;
      private final PreparedStatement sum;

      Life(Session session) {
        this.session = session;
        append = session.prepare("update lists set v = v || ',' || $2 where k = $1", 20, 25);
        insert = session.prepare("insert into lists values ($1, $2)", 20, 25);
        read = session.prepare("select k, v from lists where k = $1", 20);
        range = session.prepare("select k, v from lists where k between $1 and $2", 20, 20);
        pay = session.prepare("update accounts set balance = balance + $2 where id = $1", 20, 20);
        sum = session.prepare("select sum(balance)::int8 from accounts");
      }

      void one() {
        List<Read> reads = new ArrayList<>();
        List<Append> appends = new ArrayList<>();
        String label = name + "-" + count++;
        Area area = AREAS.get(random.nextInt(AREAS.size()));
        boolean isLong = random.nextInt(4) == 0;
        Transaction transaction =
            session.begin(
                isLong
                    ? options
                        .withKind(TransactionKind.LTX)
                        .withLabel(label)
                        .withPriority(random.nextInt(3))
                        .withWritePreserve(area.tables)
                    : options);
        Outcome outcome;
        try {
          for (int operations = 1 + random.nextInt(4); operations > 0; operations--) {
            operation(transaction, isLong ? area : Area.ALL, reads, appends);
          }
          outcome = null;
        } catch (EndpointException refused) {
          outcome = Outcome.ABORTED;
          note(label, outcome, reads, appends);
          if (!session.isAlive()) {
            throw refused;
          }
          checkRefusal(refused, isLong);
          transaction.rollback();
          return;
        }
        try {
          transaction.commit();
          outcome = Outcome.COMMITTED;
          load.committed();
          longCommits.addAndGet(isLong ? 1 : 0);
        } catch (EndpointException refused) {
          if (session.isAlive()) {
            checkRefusal(refused, isLong);
            outcome = Outcome.ABORTED;
          } else {
            note(label, askLater(transaction.handle()), reads, appends);
            throw refused;
          }
        }
        note(label, outcome, reads, appends);
      }

      /// The registry may know; otherwise the lists will tell.
      private Outcome askLater(long handle) {
        try (Session next = load.attach()) {
          TransactionState state = next.outcome(handle);
          return switch (state) {
            case COMMITTED -> Outcome.COMMITTED;
            case ABORTED -> Outcome.ABORTED;
            default -> Outcome.UNKNOWN;
          };
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }

      private void checkRefusal(EndpointException refused, boolean isLong) {
        refusals.incrementAndGet();
        // 23505: two have made the same list.
        if (isLong || !List.of("40001", "40P01", "23505").contains(refused.sqlstate())) {
          throw new AssertionError("unexpected refusal", refused);
        }
      }

      private void note(String label, Outcome outcome, List<Read> reads, List<Append> appends) {
        synchronized (history) {
          history.add(new History.Transaction(label, outcome, reads, appends));
        }
      }

      private void operation(
          Transaction transaction, Area area, List<Read> reads, List<Append> appends) {
        long key = random.nextInt(KEYS);
        switch (area.first + random.nextInt(area.operations)) {
          case 0, 1 -> {
            long value = values.incrementAndGet();
            // Before it is sent: it may be done and not answered.
            appends.add(new Append(key, value));
            String text = Long.toString(value);
            if (transaction.update(append, append.parameters().addRow(key, text)) == 0) {
              transaction.update(insert, insert.parameters().addRow(key, text));
            }
          }
          case 2 -> read(transaction, read, reads, key, key);
          case 3 -> read(transaction, range, reads, key, Math.min(KEYS - 1L, key + 3));
          case 4 -> {
            long amount = 1L + random.nextInt(20);
            long from = random.nextInt(ACCOUNTS);
            long to = random.nextInt(ACCOUNTS);
            transaction.update(pay, pay.parameters().addRow(from, -amount));
            transaction.update(pay, pay.parameters().addRow(to, amount));
          }
          default -> {
            try (Rows rows = transaction.query(sum)) {
              assertTrue(rows.next());
              assertEquals(MONEY, rows.getLong(0));
            }
          }
        }
      }

      private void read(
          Transaction transaction,
          PreparedStatement statement,
          List<Read> reads,
          long from,
          long to) {
        Map<Long, List<Long>> found = new TreeMap<>();
        var parameters = statement.parameters();
        try (Rows rows =
            transaction.query(
                statement,
                statement == range ? parameters.addRow(from, to) : parameters.addRow(from))) {
          while (rows.next()) {
            found.put(rows.getLong(0), list(rows.getString(1)));
          }
        }
        for (long key = from; key <= to; key++) {
          reads.add(new Read(key, found.getOrDefault(key, List.of())));
        }
      }
    }
  }
}
