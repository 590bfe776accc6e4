package dev.kakehashi.engine.api;

/// A data engine. Thread-safe. [#close()] refuses new work, ends what runs, makes every commit durable and returns.
public interface Engine extends AutoCloseable {
  /// Opens a session: the scope of prepared statements and settings of one client.
  ///
  /// @param userName name the client was authenticated as
  EngineSession openSession(String userName);

  /// Begins a transaction. Returns at once; kinds that wait for their epoch make their first statement wait.
  ///
  /// @throws EngineException when the limit of open transactions is reached (53300) or the engine is shutting down
  Transaction begin(TransactionOptions options);

  /// What became of transactions that were begun by an earlier run and were prepared; empty in most runs.
  java.util.List<Transaction> preparedTransactions();

  @Override
  void close();
}
