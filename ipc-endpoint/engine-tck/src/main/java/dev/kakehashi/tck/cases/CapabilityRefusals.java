package dev.kakehashi.tck.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Areas;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.Waits;
import java.util.regex.Pattern;

/// How each capability is refused by an engine that lacks it: FEATURE_NOT_SUPPORTED with the engine in the message and the capability in
/// the detail.
public final class CapabilityRefusals {
  private final Conformance suite;

  public CapabilityRefusals(Conformance suite) {
    this.suite = suite;
  }

  /// Asks for what the engine lacks.
  ///
  /// @throws AssertionError it does not refuse it
  public void check(Capability lacking) {
    switch (lacking) {
      case READ_COMMITTED -> refusesBegin(lacking, Kind.OCC, Isolation.READ_COMMITTED);
      case REPEATABLE_READ -> refusesBegin(lacking, Kind.OCC, Isolation.REPEATABLE_READ);
      case SERIALIZABLE -> refusesBegin(lacking, Kind.OCC, Isolation.SERIALIZABLE);
      case READ_ONLY_TRANSACTIONS -> refusesBegin(lacking, Kind.RTX, level());
      case LONG_TRANSACTIONS -> refusesBegin(lacking, Kind.LTX, level());
      case SAFE_SNAPSHOTS ->
          refuses(
              lacking,
              () ->
                  begin(new BeginOptions(kindOfReaders(), level(), "tck", 0, 0, Areas.NONE, true))
                      .close());
      case SAVEPOINTS -> inTransaction(lacking, transaction -> transaction.savepoint(1));
      case COMMANDS ->
          inTransaction(
              lacking,
              transaction ->
                  transaction
                      .start(suite.client().prepare("select 1"), ExecuteOptions.of(true, 0, 1, 0))
                      .await());
      case SHARED_TRANSACTIONS -> {
        Statement ofAnother = suite.another().prepare("select 1");
        inTransaction(
            lacking,
            transaction -> {
              transaction.query("select 1");
              transaction.start(ofAnother, ExecuteOptions.DEFAULT).await();
            });
      }
      case TWO_PHASE ->
          inTransaction(
              lacking,
              transaction ->
                  Waits.awaitEnd(done ->
                      suite
                          .client()
                          .session()
                          .prepare(transaction.engine(), suite.freshName(), done)));
      case UNDURABLE_READS -> hasStoredReadsAlone();
      case BACKUP -> refuses(lacking, () -> suite.underTest().engine().backup().close());
      case DEFINITIONS -> refuses(lacking, () -> suite.underTest().engine().definitions());
      case QUEUES -> {
        assertNull(suite.underTest().engine().queues());
        refusesSql(lacking, "create queue " + suite.freshName());
      }
      case ROLES -> {
        assertFalse(suite.underTest().engine().roles().areUsed());
        refusesSql(lacking, "create role " + suite.freshName());
      }
      case APPLICATIONS -> {
        assertTrue(suite.underTest().engine().applicationDefinitions().isEmpty());
        refusesSql(lacking, "drop application " + suite.freshName());
      }
      // Nothing of the engine's own API asks for these: whoever serves clients does without.
      case PARALLEL_SCAN, ROW_IDENTITY -> {}
      default -> refusesSql(lacking, statement(lacking));
    }
  }

  private String statement(Capability lacking) {
    if (lacking == Capability.DDL) {
      return "create table " + suite.freshName() + " (id int8)";
    }
    if (lacking == Capability.CATALOGUE) {
      return "select column_name from kakehashi_catalog.columns";
    }
    if (lacking == Capability.STATISTICS) {
      return "select column_name from kakehashi_catalog.column_statistics";
    }
    if (lacking == Capability.DEFERRABLE_CONSTRAINTS) {
      return "create table " + suite.freshName() + " (id int8 unique deferrable)";
    }
    if (lacking == Capability.DDL_IN_TRANSACTION) {
      return "create table " + suite.freshName() + " (id int8)";
    }
    String table = suite.table("id int8 primary key, v int8");
    return switch (lacking) {
      case ROW_LOCKS -> "select id from " + table + " for update";
      case NOWAIT -> "select id from " + table + " for update nowait";
      case SKIP_LOCKED -> "select id from " + table + " for update skip locked";
      case CHANGES -> "insert into " + table + " values (1, 1)";
      case DIRECT_CHANGES -> "update " + table + " set v = v + 1 where v > 0";
      case RETURNING -> "insert into " + table + " values (1, 1) returning v";
      case ON_CONFLICT -> "insert into " + table + " values (1, 1) on conflict do nothing";
      case TRUNCATE -> "truncate " + table;
      case COPY_FILES -> "copy " + table + " from '/tck.csv' (format csv)";
      default -> throw new AssertionError("nobody knows how " + lacking + " is refused");
    };
  }

  /// Every commit is stored when it is available.
  private void hasStoredReadsAlone() {
    String table = suite.table("id int8 primary key");
    try (DrivenTransaction writer = begin(BeginOptions.DEFAULT);
        DrivenTransaction reader = suite.another().begin(Isolation.READ_COMMITTED)) {
      writer.run("insert into " + table + " values (1)");
      Waits.awaitEnd(done -> writer.engine().commit(CommitResponse.AVAILABLE, done));
      reader.query("select id from " + table);
      assertFalse(reader.engine().hasUndurableReads());
    }
  }

  /// The strictest isolation level that the engine has: nothing else is to be lacking.
  private Isolation level() {
    return suite.levels().getLast();
  }

  private Kind kindOfReaders() {
    return suite.capabilities().has(Capability.READ_ONLY_TRANSACTIONS) ? Kind.RTX : Kind.OCC;
  }

  private DrivenTransaction begin(BeginOptions options) {
    return suite.client().begin(options);
  }

  private void refusesBegin(Capability lacking, Kind kind, Isolation isolation) {
    refuses(lacking, () -> begin(new BeginOptions(kind, isolation, "tck")).close());
  }

  /// Operation in a transaction.
  private interface Asking {
    void in(DrivenTransaction transaction);
  }

  private void inTransaction(Capability lacking, Asking asking) {
    try (DrivenTransaction transaction = begin(BeginOptions.DEFAULT)) {
      refuses(lacking, () -> asking.in(transaction));
    }
  }

  private void refusesSql(Capability lacking, String sql) {
    inTransaction(
        lacking,
        transaction -> {
          transaction.query("select 1");
          transaction.run(sql);
        });
  }

  private void refuses(Capability lacking, Runnable operation) {
    EngineException failure = suite.refused("0A000", operation);
    String name = suite.capabilities().engine();
    assertTrue(String.valueOf(failure.getMessage()).contains(name), failure.getMessage());
    // As a word: names of others may begin with it.
    assertTrue(
        Pattern.compile("\\b" + lacking.name() + "\\b").matcher(failure.detail()).find(),
        failure.detail());
    assertEquals("", failure.tableName());
  }
}
