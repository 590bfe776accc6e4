package dev.kakehashi.tck.transfers;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.tck.drive.DrivenEngine;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Conditions that have to hold after a kill, and at the end.
final class TransferCheck {
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Bank bank;
  private final TrialOptions options;
  private final TransferFigures figures;

  TransferCheck(Bank bank, TrialOptions options, TransferFigures figures) {
    this.bank = bank;
    this.options = options;
    this.figures = figures;
  }

  /// Changes every account, also while the load goes on, and says how long that took. An account that cannot be changed in time is a
  /// violation.
  ///
  /// @param killed when the kill was, by [System#nanoTime()]
  /// @return milliseconds from the kill until each account could be changed
  long everyAccountIsWritable(long killed) {
    long deadline = killed + options.limits().recoveryMillis() * 1_000_000;
    try (DrivenEngine client = bank.connect()) {
      for (int account = 0; account < options.load().accounts(); account++) {
        int id = account;
        retried(
            "account " + id + " cannot be changed",
            deadline,
            () ->
                bank.within(
                    client,
                    transaction -> {
                      bank.setBalance(transaction, id, bank.balance(transaction, id));
                      bank.commit(transaction);
                      return true;
                    }));
      }
    }
    return (System.nanoTime() - killed) / 1_000_000;
  }

  /// Whether each transfer without an answer is decided: its number can be used, or is taken. A check that waits has met a transaction that
  /// nobody ends.
  ///
  /// @return how many of them are in the journal
  long everyTransferIsDecided(Set<Long> unanswered, long killed) {
    long deadline = killed + options.limits().recoveryMillis() * 1_000_000;
    long committed = 0;
    try (DrivenEngine client = bank.connect()) {
      for (long id : unanswered) {
        Boolean isThere =
            retried("transfer " + id + " is undecided", deadline, () -> isThere(client, id));
        committed += Boolean.TRUE.equals(isThere) ? 1 : 0;
      }
    }
    return committed;
  }

  private boolean isThere(DrivenEngine client, long id) {
    try {
      return bank.within(
          client,
          transaction -> {
            bank.note(transaction, id, 0, 0, 0);
            return false; // rolled back
          });
    } catch (EngineException failure) {
      if (failure.sqlstate().equals("23505")) {
        return true;
      }
      throw failure;
    }
  }

  /// Operation that is tried again until it works.
  private interface Attempt<T> {
    T make();
  }

  private <T> @Nullable T retried(String violation, long deadline, Attempt<T> attempt) {
    while (true) {
      try {
        return attempt.make();
      } catch (EngineException failure) {
        figures.failed(failure.sqlstate());
        if (System.nanoTime() - deadline > 0) {
          figures.violated(
              "%s: %s %s".formatted(violation, failure.sqlstate(), failure.getMessage()));
          return null;
        }
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
  }

  /// The end: nothing is lost, nothing is there that was refused, and the accounts have what the journal says. Nobody works any more.
  ///
  /// @return a line for the table
  String everythingIsRight() throws IOException {
    Ledger.Entries entries = Ledger.read(options.ledger());
    long now = System.nanoTime();
    everyAccountIsWritable(now);
    everyTransferIsDecided(entries.open(), now);
    try (DrivenEngine client = bank.connect()) {
      List<Long> journal = bank.within(client, bank::journal);
      Set<Long> there = new HashSet<>(journal);
      List<Long> lost = new ArrayList<>(entries.acknowledged());
      lost.removeAll(there);
      there.removeAll(entries.acknowledged());
      there.removeAll(entries.open());
      if (!lost.isEmpty()) {
        figures.violated(lost.size() + " acknowledged transfers are lost: " + first(lost));
      }
      if (!there.isEmpty()) {
        figures.violated(
            there.size()
                + " transfers are there that were refused or never made: "
                + first(List.copyOf(there)));
      }
      List<String> wrong = bank.within(client, bank::wrongAccounts);
      if (!wrong.isEmpty()) {
        figures.violated(wrong.size() + " accounts are wrong: " + first(wrong));
      }
      String sum = bank.within(client, bank::sum);
      if (!sum.equals(bank.rightSum())) {
        figures.violated("the accounts have " + sum + ", not " + bank.rightSum());
      }
      return "%d acknowledged, %d refused, %d without an answer, %d in the journal, %d lost, %d wrong accounts, sum %s"
          .formatted(
              entries.acknowledged().size(),
              entries.refused().size(),
              entries.open().size(),
              journal.size(),
              lost.size(),
              wrong.size(),
              sum.equals(bank.rightSum()) ? "right" : "wrong");
    }
  }

  private static String first(List<?> some) {
    return some.subList(0, Math.min(5, some.size())).toString();
  }
}
