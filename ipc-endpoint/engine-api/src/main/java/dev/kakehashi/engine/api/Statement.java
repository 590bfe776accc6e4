package dev.kakehashi.engine.api;

import dev.kakehashi.engine.api.error.EngineException;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A planned statement. Immutable and thread-safe; stays valid when the catalogue changes (it is planned again when it runs, and fails as a
/// new one would).
///
/// It may run in transactions that other sessions use, too, and in several at a time.
public interface Statement {
  /// Message of FEATURE_NOT_SUPPORTED when a statement that was planned again has other columns; it has not run.
  String OTHER_COLUMNS = "cached plan must not change result type";

  /// Kind of a statement, by its effect.
  enum Kind {
    /// Returns rows, changes nothing.
    QUERY,
    /// Changes rows.
    DML,
    /// Changes the catalogue.
    DDL
  }

  /// A result column. `typeOid` is PostgreSQL's, `typeModifier` PostgreSQL's atttypmod (-1: none).
  record Column(String name, int typeOid, int typeModifier) {}

  Kind kind();

  String sql();

  /// Types of `$1`, `$2`, ... as PostgreSQL type OIDs.
  int[] parameterTypeOids();

  /// Result columns; empty when the statement returns no rows.
  List<Column> columns();

  /// How a client that has the engine's memory mapped finds the rows by itself; null: it cannot. Asked when it is prepared, for the role
  /// that the session has then.
  default @Nullable DirectRead directRead() {
    return null;
  }

  /// How a transaction begins that is made for one execution of this statement.
  ///
  /// @param asked by its client
  default BeginOptions ownTransaction(BeginOptions asked) {
    return asked;
  }

  /// Runs the statement in a transaction, as a job.
  ///
  /// Statements of one transaction run one after another in the order of these calls. A light statement may run to its end on the calling
  /// thread. When it fails, its own effects are undone, and the transaction goes on: there is no aborted state as in PostgreSQL.
  ///
  /// In a transaction that has ended it fails: NO_SUCH_TRANSACTION if that was committed or prepared, [EngineTransaction#failure()] or
  /// TRANSACTION_ABORTED if it was aborted. Where two transactions wait for each other, one of their statements fails with
  /// DEADLOCK_DETECTED or SERIALIZATION_FAILURE.
  ///
  /// @param transaction open transaction of this engine
  /// @param parameters row batch with zero or more rows of parameters; must stay readable until `done`. With more than one row the
  ///     statement runs once per row in their order, each sees what the ones before have changed, all are undone if one fails, and the
  ///     counts are added. A statement without parameters runs as often as the batch says, too.
  /// @param options snapshot and limits
  /// @param sink takes the rows
  /// @param done receives the number of rows changed (DML) or sent (QUERY), or the failure, exactly once, after the last use of sink and
  ///     parameters. May be called on the calling thread or on a worker; must not block.
  Execution execute(
      EngineTransaction transaction,
      ParameterBatch parameters,
      ExecuteOptions options,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done);
}
