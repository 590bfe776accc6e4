package dev.kakehashi.tck.transfers;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Areas;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Accounts, each with 1000 to begin with, and the journal of what was moved. It knows the statements, and how long each call may take.
final class Bank {
  static final long FIRST_BALANCE = 1000;

  private static final String SUM = "select count(*), sum(balance)::int8 from transfer_account";

  private final Engine engine;
  private final TrialOptions options;
  private final TransferFigures figures;
  private final Isolation isolation;

  Bank(Engine engine, TrialOptions options, TransferFigures figures) {
    this.engine = engine;
    this.options = options;
    this.figures = figures;
    this.isolation = isolation(engine.capabilities());
  }

  private static Isolation isolation(Capabilities engine) {
    if (engine.has(Capability.REPEATABLE_READ)) {
      return Isolation.REPEATABLE_READ;
    }
    return engine.has(Capability.SERIALIZABLE) ? Isolation.SERIALIZABLE : Isolation.READ_COMMITTED;
  }

  /// Whether the accounts can be added up while others move money. Without a snapshot that cannot be, and a balance is locked when it is
  /// read.
  boolean hasSnapshots() {
    return isolation != Isolation.READ_COMMITTED;
  }

  /// One client.
  DrivenEngine connect() {
    return new DrivenEngine(engine, "transfers", "");
  }

  /// Makes the tables.
  void create(DrivenEngine client) {
    client.run("create table transfer_account (id int8 primary key, balance int8 not null)");
    client.run(
        "create table transfer_journal (id int8 primary key, source int8 not null, target int8 not null, amount int8 not null)");
    client.run(
        "insert into transfer_account select i, "
            + FIRST_BALANCE
            + " from generate_series(0, "
            + (options.load().accounts() - 1)
            + ") i");
  }

  /// Work within one snapshot.
  ///
  /// @param <T> what it gives
  interface Work<T extends @Nullable Object> {
    T in(DrivenTransaction transaction);
  }

  /// Runs work in a transaction that is rolled back if it fails, and is ended by whoever works.
  <T extends @Nullable Object> T within(DrivenEngine client, Work<T> work) {
    BeginOptions begin =
        new BeginOptions(
            Kind.OCC,
            isolation,
            "transfer",
            0,
            options.limits().callLimitMillis() * 1_000_000,
            Areas.NONE);
    DrivenTransaction transaction = timed("begin", () -> client.begin(begin));
    try (transaction) {
      return work.in(transaction);
    }
  }

  /// A call whose time is watched.
  <T extends @Nullable Object> T timed(String what, java.util.function.Supplier<T> call) {
    long began = System.nanoTime();
    try {
      return call.get();
    } finally {
      long took = System.nanoTime() - began;
      figures.called(took);
      if (took > options.limits().callLimitMillis() * 1_000_000) {
        figures.violated(what + " took " + took / 1_000_000 + " ms");
      }
    }
  }

  long balance(DrivenTransaction transaction, int account) {
    List<String> rows =
        timed(
            "select",
            () ->
                transaction.query(
                    "select balance from transfer_account where id = $1"
                        + (hasSnapshots() ? "" : " for update"),
                    account));
    if (rows.size() != 1) {
      throw new AssertionError("account " + account + " is there " + rows.size() + " times");
    }
    return Long.parseLong(rows.getFirst());
  }

  void setBalance(DrivenTransaction transaction, int account, long balance) {
    long changed =
        timed(
            "update",
            () ->
                transaction.run(
                    "update transfer_account set balance = $2 where id = $1", account, balance));
    if (changed != 1) {
      throw new AssertionError("account " + account + " was changed " + changed + " times");
    }
  }

  void note(DrivenTransaction transaction, long id, int source, int target, long amount) {
    timed(
        "insert",
        () ->
            transaction.run(
                "insert into transfer_journal values ($1, $2, $3, $4)",
                id,
                source,
                target,
                amount));
  }

  void commit(DrivenTransaction transaction) {
    timed(
        "commit",
        () -> {
          transaction.commit();
          return true;
        });
  }

  /// Number of accounts and what they have together, as text.
  String sum(DrivenTransaction transaction) {
    return timed("sum", () -> transaction.query(SUM)).getFirst();
  }

  /// Result that [#sum] has to give at any time.
  String rightSum() {
    return options.load().accounts() + "|" + options.load().accounts() * FIRST_BALANCE;
  }

  /// Accounts whose balance is not what the journal says.
  List<String> wrongAccounts(DrivenTransaction transaction) {
    return transaction.query(
        "select a.id, a.balance, coalesce(m.moved, 0) from transfer_account a left join"
            + " (select account, sum(amount)::int8 as moved from"
            + " (select target as account, amount from transfer_journal"
            + " union all select source, -amount from transfer_journal) q group by account) m"
            + " on m.account = a.id where a.balance <> "
            + FIRST_BALANCE
            + " + coalesce(m.moved, 0)");
  }

  /// Numbers of all transfers in the journal.
  List<Long> journal(DrivenTransaction transaction) {
    return transaction.query("select id from transfer_journal").stream()
        .map(Long::valueOf)
        .toList();
  }
}
