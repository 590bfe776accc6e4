package dev.kakehashi.benchmarks.applications;

import dev.kakehashi.benchmarks.engine.Heap;
import dev.kakehashi.benchmarks.engine.Numbers;
import dev.kakehashi.benchmarks.engine.ProcessorTime;
import dev.kakehashi.benchmarks.engine.Repetitions;
import dev.kakehashi.benchmarks.rest.BenchmarkTable;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Procedure;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;

/// Transactions of three reads and two writes, stored, by eight clients: as a procedure, as statements, in PL/pgSQL.
record Transfers(
    AttachOptions options,
    Heap heap,
    Repetitions turns,
    double seconds,
    double warmUpSeconds,
    int accounts) {
  private static final int CLIENTS = 8;
  private static final int MOST_AMOUNT = 100;

  private static final String FUNCTION =
      """
      CREATE FUNCTION transfer(source int8, target int8, wanted int8) RETURNS void LANGUAGE plpgsql AS $f$
      DECLARE had int8; has int8; taken int8;
      BEGIN
        SELECT balance INTO STRICT had FROM account WHERE id = source;
        SELECT balance INTO STRICT has FROM account WHERE id = target;
        SELECT amount INTO STRICT taken FROM fee WHERE id = wanted % 10 + 1;
        UPDATE account SET balance = balance - wanted - taken WHERE id = source;
        UPDATE account SET balance = balance + wanted WHERE id = target;
      END $f$\
      """;

  /// One transaction, with random accounts.
  @FunctionalInterface
  private interface Client {
    void transfer(long from, long to, long amount);
  }

  /// Makes the client of a session.
  @FunctionalInterface
  private interface Opening {
    Client open(Session session);
  }

  void run() throws Exception {
    heap.run(FUNCTION);
    String script =
        """
        \\set source random(1, %1$d)
        \\set target random(1, %1$d)
        \\set wanted random(1, %2$d)
        SELECT transfer(:source, :target, :wanted);
        """
            .formatted(accounts, MOST_AMOUNT);
    double warm =
        Math.min(
            heap.rate(script, CLIENTS, (int) warmUpSeconds),
            Math.min(
                rate(Transfers::statements, warmUpSeconds),
                rate(Transfers::procedure, warmUpSeconds)));
    if (warm <= 0) {
      throw new IllegalStateException("no transaction was committed");
    }
    double[] used = new double[3];
    List<Double> heaps = new ArrayList<>();
    Repetitions.Medians medians =
        turns.compare(
            () -> {
              heaps.add(timed(used, 0, () -> heap.rate(script, CLIENTS, (int) Math.ceil(seconds))));
              return timed(used, 1, () -> rate(Transfers::statements, seconds));
            },
            () -> timed(used, 2, () -> rate(Transfers::procedure, seconds)));
    double ofHeap = Repetitions.median(heaps);
    BenchmarkTable.atLeast(
        "procedure, 3 reads, 2 writes, 8 clients (other: SQL)",
        BenchmarkTable.rate(medians.heap()),
        BenchmarkTable.rate(medians.engine()),
        medians.engine() / medians.heap(),
        2);
    BenchmarkTable.atLeast(
        "the same (other: PL/pgSQL on heap)",
        BenchmarkTable.rate(ofHeap),
        BenchmarkTable.rate(medians.engine()),
        medians.engine() / ofHeap,
        1.5);
    int taken = turns.repetitions();
    BenchmarkTable.more(
        "processor time of one, all sides (other: SQL)",
        BenchmarkTable.micros(used[1] / taken),
        BenchmarkTable.micros(used[2] / taken));
    BenchmarkTable.more(
        "processor time of one, all sides (other: PL/pgSQL)",
        BenchmarkTable.micros(used[0] / taken),
        BenchmarkTable.micros(used[2] / taken));
  }

  /// Takes a rate, and adds what the whole machine has worked for one transaction, in microseconds.
  private double timed(double[] used, int side, Repetitions.Measure rate) throws Exception {
    double before = ProcessorTime.seconds();
    long began = System.nanoTime();
    double taken = rate.take();
    double count = taken * (System.nanoTime() - began) / 1e9;
    used[side] += (ProcessorTime.seconds() - before) * 1e6 / count;
    return taken;
  }

  private static Client procedure(Session session) {
    Procedure transfer = session.procedure("transfer", TypeOid.INT8, TypeOid.INT8, TypeOid.INT8);
    return (from, to, amount) -> {
      if (transfer.run(from, to, amount) != 0) {
        throw new IllegalStateException("a transfer has given rows");
      }
    };
  }

  private static Client statements(Session session) {
    PreparedStatement account = session.prepare("SELECT balance FROM account WHERE id = $1");
    PreparedStatement fee = session.prepare("SELECT amount FROM fee WHERE id = $1");
    PreparedStatement update =
        session.prepare("UPDATE account SET balance = balance + $2 WHERE id = $1");
    return (from, to, amount) -> {
      try (Transaction transaction = session.begin()) {
        read(transaction, account, from);
        read(transaction, account, to);
        read(transaction, fee, amount % 10 + 1);
        write(transaction, update, from, -amount - (amount % 10 + 1));
        write(transaction, update, to, amount);
        transaction.commit();
      }
    };
  }

  private static void read(Transaction transaction, PreparedStatement select, long id) {
    Parameters key = select.parameters();
    key.writer().addRow();
    key.writer().setLong(0, id);
    if (Numbers.drain(transaction.query(select, key)) != 1) {
      throw new IllegalStateException("there is no row " + id);
    }
  }

  private static void write(Transaction transaction, PreparedStatement update, long id, long by) {
    Parameters values = update.parameters();
    values.writer().addRow();
    values.writer().setLong(0, id);
    values.writer().setLong(1, by);
    if (transaction.update(update, values) != 1) {
      throw new IllegalStateException("there is no account " + id);
    }
  }

  /// Transactions per second.
  private double rate(Opening opening, double forSeconds) throws Exception {
    long began = System.nanoTime();
    long end = began + (long) (forSeconds * 1e9);
    try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
      List<Future<Long>> counts = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        counts.add(threads.submit(() -> until(opening, end)));
      }
      long sum = 0;
      for (Future<Long> count : counts) {
        sum += count.get();
      }
      return sum * 1e9 / (System.nanoTime() - began);
    }
  }

  private long until(Opening opening, long end) {
    long count = 0;
    ThreadLocalRandom random = ThreadLocalRandom.current();
    try (Session session = Session.attach(options)) {
      Client client = opening.open(session);
      while (System.nanoTime() < end) {
        client.transfer(
            random.nextLong(accounts) + 1,
            random.nextLong(accounts) + 1,
            random.nextLong(MOST_AMOUNT) + 1);
        count++;
      }
    }
    return count;
  }
}
