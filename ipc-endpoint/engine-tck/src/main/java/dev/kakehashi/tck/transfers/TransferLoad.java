package dev.kakehashi.tck.transfers;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.tck.drive.DrivenEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Threads that move money and add it up, until they are stopped. Each writes into the ledger what it is told.
final class TransferLoad implements AutoCloseable {
  private static final long MOST_AMOUNT = 10;
  private static final long PAUSE_AFTER_FAILURE = TimeUnit.MILLISECONDS.toNanos(5);

  private final Bank bank;
  private final TrialOptions options;
  private final Ledger ledger;
  private final TransferFigures figures;
  private final int life;
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;

  /// @param life number of this process, which makes numbers of transfers its own
  TransferLoad(Bank bank, TrialOptions options, Ledger ledger, TransferFigures figures, int life) {
    this.bank = bank;
    this.options = options;
    this.ledger = ledger;
    this.figures = figures;
    this.life = life;
  }

  /// Starts the threads. Called once.
  void start() {
    for (int w = 0; w < options.load().writers(); w++) {
      long first = (long) life << 40 | (long) w << 32;
      threads.add(
          Thread.ofPlatform()
              .name("writer " + w)
              .start(() -> guarded(client -> move(client, first))));
    }
    for (int r = 0; bank.hasSnapshots() && r < options.load().readers(); r++) {
      threads.add(Thread.ofPlatform().name("reader " + r).start(() -> guarded(this::addUp)));
    }
  }

  /// Work that a thread does all the time.
  private interface Work {
    void with(DrivenEngine client);
  }

  /// An end before the time is a violation: nobody would notice a thread that is gone.
  private void guarded(Work work) {
    try (DrivenEngine client = bank.connect()) {
      work.with(client);
    } catch (RuntimeException | AssertionError unexpected) {
      figures.violated(Thread.currentThread().getName() + ": " + unexpected);
    }
  }

  private void move(DrivenEngine client, long first) {
    long id = first;
    while (!stopped) {
      id++;
      transfer(client, id);
    }
  }

  private void transfer(DrivenEngine client, long id) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    int source = random.nextInt(options.load().accounts());
    int target =
        (source + 1 + random.nextInt(options.load().accounts() - 1)) % options.load().accounts();
    long amount = random.nextLong(1, MOST_AMOUNT + 1);
    boolean[] asked = {false};
    try {
      bank.within(
          client,
          transaction -> {
            // In one order: where they are locked, nobody waits in a circle.
            long first = bank.balance(transaction, Math.min(source, target));
            long second = bank.balance(transaction, Math.max(source, target));
            long had = source < target ? first : second;
            long has = source < target ? second : first;
            bank.setBalance(transaction, source, had - amount);
            bank.setBalance(transaction, target, has + amount);
            bank.note(transaction, id, source, target, amount);
            ledger.trying(id);
            asked[0] = true;
            bank.commit(transaction);
            return true;
          });
      ledger.acknowledged(id);
      figures.committed();
    } catch (EngineException failure) {
      figures.failed(failure.sqlstate());
      if (asked[0] && failure.code() == ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN) {
        ledger.doubt(id, failure.sqlstate());
      } else {
        ledger.refused(id, failure.sqlstate());
      }
      LockSupport.parkNanos(PAUSE_AFTER_FAILURE);
    }
  }

  private void addUp(DrivenEngine client) {
    while (!stopped) {
      try {
        String sum =
            bank.within(
                client,
                transaction -> {
                  String found = bank.sum(transaction);
                  bank.commit(transaction);
                  return found;
                });
        if (sum.equals(bank.rightSum())) {
          figures.summed();
        } else {
          figures.violated("the accounts have " + sum + ", not " + bank.rightSum());
        }
      } catch (EngineException failure) {
        figures.failed(failure.sqlstate());
        LockSupport.parkNanos(PAUSE_AFTER_FAILURE);
      }
    }
  }

  /// Stops the threads, and waits for the ends of their calls.
  @Override
  public void close() {
    stopped = true;
    for (Thread thread : threads) {
      try {
        thread.join(2 * options.limits().callLimitMillis() + options.limits().recoveryMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (thread.isAlive()) {
        figures.violated(thread.getName() + " hangs");
      }
    }
  }
}
