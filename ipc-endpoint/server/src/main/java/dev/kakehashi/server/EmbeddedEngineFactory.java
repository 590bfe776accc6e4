package dev.kakehashi.server;

import dev.kakehashi.engine.EmbeddedEngine;
import dev.kakehashi.engine.EngineConfig;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.Transaction;
import dev.kakehashi.engine.api.TransactionOptions;
import dev.kakehashi.engine.store.StoreConfig;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.List;

/// The engine that runs in this process, on a scheduler of its own.
public final class EmbeddedEngineFactory implements EngineFactory {
  /// Plans kept per engine.
  private static final int PLAN_CACHE_ENTRIES = 1000;

  @Override
  public String name() {
    return "embedded";
  }

  @Override
  public Engine open(Settings settings) {
    SchedulerConfig.Builder workers = SchedulerConfig.builder();
    int threads = settings.count(Setting.WORKER_THREADS);
    if (threads > 0) {
      workers.workers(threads);
    }
    TaskScheduler scheduler = TaskScheduler.start(workers.build());
    try {
      EngineConfig config =
          new EngineConfig(
              new StoreConfig(
                  settings.dataDirectory().resolve("store"), settings.number(Setting.MEMORY)),
              settings.number(Setting.STATEMENT_MEMORY),
              settings.count(Setting.MAX_TRANSACTIONS),
              PLAN_CACHE_ENTRIES);
      return new ScheduledEngine(EmbeddedEngine.open(config, scheduler), scheduler);
    } catch (RuntimeException e) {
      scheduler.close();
      throw e;
    }
  }

  /// An engine that owns its scheduler: closed after it, so that everything it still runs can end.
  private record ScheduledEngine(Engine engine, TaskScheduler scheduler) implements Engine {
    @Override
    public EngineSession openSession(String userName, String owner) {
      return engine.openSession(userName, owner);
    }

    @Override
    public Transaction begin(TransactionOptions options) {
      return engine.begin(options);
    }

    @Override
    public List<PreparedTransaction> preparedTransactions() {
      return engine.preparedTransactions();
    }

    @Override
    public void preparedListener(PreparedTransaction.Listener listener) {
      engine.preparedListener(listener);
    }

    @Override
    public void close() {
      try {
        engine.close();
      } finally {
        scheduler.close();
      }
    }
  }
}
