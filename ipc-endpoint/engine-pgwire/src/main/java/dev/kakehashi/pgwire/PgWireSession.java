package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Planning;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.pool.PooledConnection;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.pgwire.wire.WireErrors;
import dev.kakehashi.pgwire.wire.WireException;
import dev.kakehashi.pgwire.wire.WireInput;
import dev.kakehashi.pgwire.wire.WireOutput;
import dev.kakehashi.pgwire.wire.WireParameters;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.capability.Capability;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Statements of one client. It has no connection of its own.
final class PgWireSession implements EngineSession {
  private final PgWireEngine engine;
  private final String userName;
  private final String owner;
  private volatile String timeZone;
  private volatile WeakReference<@Nullable PgWireTransaction> defining = new WeakReference<>(null);

  PgWireSession(PgWireEngine engine, String userName, String owner) {
    this.engine = engine;
    this.userName = userName;
    this.owner = owner;
    this.timeZone = engine.timeZone();
  }

  /// A string of SQL.
  static String literal(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  String timeZone() {
    return timeZone;
  }

  @Override
  public void viewer(Viewer newViewer) {}

  @Override
  public Planning prepare(
      String sql,
      int[] parameterTypeOids,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
    SqlText text = SqlText.of(sql);
    if (text.setsTimeZone()) {
      engine.threads().execute(() -> prepareZone(sql, done));
      return Planning.ENDED;
    }
    Capability lacking = text.lacking();
    if (lacking != null) {
      done.accept(null, EngineException.lacking(engine.capabilities(), lacking));
      return Planning.ENDED;
    }
    String word = text.ofConnection();
    if (word != null) {
      done.accept(
          null,
          new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "engine \"" + PgWireEngine.NAME + "\" runs no " + word + " as a statement"));
      return Planning.ENDED;
    }
    String sent;
    try {
      sent = spread(sql, text);
    } catch (EngineException e) {
      done.accept(null, e);
      return Planning.ENDED;
    }
    Preparation preparation = new Preparation(sent, text, parameterTypeOids.clone(), done);
    PgWireTransaction transaction = defining.get();
    if (transaction != null && transaction.state() == EngineTransaction.State.ACTIVE) {
      transaction.within(preparation::describe, preparation::refuse);
      preparation.endOnLane(transaction);
    } else {
      engine.threads().execute(preparation::run);
    }
    return preparation;
  }

  /// The statement as the server is to have it: a table that is to be spread over nodes is made and spread.
  private String spread(String sql, SqlText text) {
    Distribution spread = text.makesTable() ? Distribution.of(sql) : null;
    if (spread == null) {
      return sql;
    }
    if (!engine.isSharded()) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "engine \"%s\" has no nodes to spread table %s over: its server has no Citus"
              .formatted(PgWireEngine.NAME, spread.table()));
    }
    return spread.command();
  }

  /// SET TIME ZONE: the server says whether there is such a zone.
  private void prepareZone(
      String sql, BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
    String zone = ZoneSetting.zone(sql);
    EngineException failure = null;
    if (!zone.isEmpty()) {
      try {
        engine.ask("SELECT pg_catalog.set_config('TimeZone', " + literal(zone) + ", true)");
      } catch (EngineException e) {
        failure = e;
      }
    }
    done.accept(failure == null ? new ZoneSetting(this, sql, zone) : null, failure);
  }

  /// @param zone empty: the engine's
  void timeZone(String zone) {
    timeZone = zone.isEmpty() ? engine.timeZone() : zone;
  }

  /// A statement for many rows; null: there is none.
  @Nullable InsertByCopy bulkInsert(String sql, int[] types) {
    return engine.copiesRows() ? InsertByCopy.of(sql, types, engine.isSharded()) : null;
  }

  /// A look-up for many rows of parameters; null: it is none, or the server is asked about each row.
  @Nullable LookupOfMany lookupOfMany(String sql, int[] types) {
    return engine.fewestToGather() < Integer.MAX_VALUE ? LookupOfMany.of(sql, types) : null;
  }

  /// A transaction in which the session has changed definitions: statements are prepared as it sees them.
  void defines(PgWireTransaction transaction) {
    defining = new WeakReference<>(transaction);
  }

  /// A statement that is being prepared, on a connection of the pool or that of a transaction.
  private final class Preparation implements Planning {
    private final String sql;
    private final SqlText text;
    private final int[] given;
    private final BiConsumer<@Nullable Statement, @Nullable EngineException> done;
    private @Nullable Statement result;
    private @Nullable EngineException failure;

    // Guarded by this.
    private @Nullable WireConnection running;
    private boolean canceled;

    Preparation(
        String sql,
        SqlText text,
        int[] given,
        BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
      this.sql = sql;
      this.text = text;
      this.given = given;
      this.done = done;
    }

    void run() {
      try {
        // The connection that the pool had kept may have been dead for long.
        if (!describeOnce(true)) {
          describeOnce(false);
        }
      } catch (EngineException e) {
        failure = e;
      } catch (WireException e) {
        failure =
            new EngineException(
                ErrorCode.CONNECTION_FAILURE,
                "the connection to the engine was lost: " + e.getMessage());
      } catch (ServerError e) {
        failure = WireErrors.of(e);
      }
      synchronized (this) {
        if (canceled && failure != null) {
          failure =
              new EngineException(
                  ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
        }
      }
      report();
    }

    /// @param again whether it is tried again when the connection breaks
    private boolean describeOnce(boolean again) {
      PooledConnection connection = engine.pool().acquire();
      try {
        describe(connection.wire());
        return true;
      } catch (WireException e) {
        if (!again || isCanceled()) {
          throw e;
        }
        return false;
      } finally {
        engine.pool().release(connection);
      }
    }

    private synchronized boolean isCanceled() {
      return canceled;
    }

    void refuse(RuntimeException e) {
      failure = e instanceof ServerError error ? WireErrors.of(error) : (EngineException) e;
    }

    void endOnLane(PgWireTransaction transaction) {
      transaction.then(this::report);
    }

    private void report() {
      done.accept(failure == null ? result : null, failure);
    }

    void describe(WireConnection connection) {
      synchronized (this) {
        if (canceled) {
          throw new EngineException(
              ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
        }
        running = connection;
      }
      try {
        parse(connection);
      } finally {
        synchronized (this) {
          running = null;
        }
      }
    }

    private void parse(WireConnection connection) {
      WireOutput out = connection.out();
      out.begin('P').put(0).putText(sql).putShort(given.length);
      for (int type : given) {
        out.putInt(type);
      }
      out.end().begin('D').put('S').put(0).end();
      connection.sync();
      connection.send();
      int[] parameters = {};
      List<Statement.Column> columns = new ArrayList<>();
      ServerError error = null;
      while (true) {
        char type = connection.next();
        WireInput in = connection.in();
        if (type == 'Z') {
          connection.ready();
          break;
        }
        switch (type) {
          case 'E' -> error = connection.error();
          case 't' -> {
            parameters = new int[in.getShort() & 0xFFFF];
            for (int i = 0; i < parameters.length; i++) {
              parameters[i] = in.getInt();
            }
          }
          case 'T' -> columns = WireExchange.columns(in);
          default -> {}
        }
      }
      if (error != null) {
        throw error;
      }
      check(parameters, columns);
      result = new PgWireStatement(PgWireSession.this, sql, text, parameters, columns);
    }

    private void check(int[] parameters, List<Statement.Column> columns) {
      for (int i = 0; i < parameters.length; i++) {
        if (!WireParameters.isKnown(parameters[i])) {
          throw new EngineException(
                  ErrorCode.FEATURE_NOT_SUPPORTED,
                  "parameter $%d has a type that does not cross the bridge: %d"
                      .formatted(i + 1, parameters[i]))
              .withHint("Cast it, for example to text.");
        }
      }
      for (Statement.Column column : columns) {
        if (!WireParameters.isKnown(column.typeOid())) {
          throw new EngineException(
                  ErrorCode.FEATURE_NOT_SUPPORTED,
                  "column \"%s\" has a type that does not cross the bridge: %d"
                      .formatted(column.name(), column.typeOid()))
              .withHint("Cast it, for example to text.");
        }
      }
    }

    @Override
    public void cancel() {
      WireConnection connection;
      synchronized (this) {
        canceled = true;
        connection = running;
      }
      if (connection != null) {
        // A statement that is only described takes no time, unless it waits for a lock; a cancel
        // that comes late finds the connection at rest or ends another
        // description, which is tried again. So the connection is given up instead.
        connection.breakOff();
      }
    }
  }

  @Override
  public void prepare(
      EngineTransaction transaction, String globalId, Consumer<@Nullable EngineException> done) {
    PgWireTransaction own = (PgWireTransaction) transaction;
    PreparedTransaction prepared;
    String text;
    try {
      prepared = engine.twoPhase().naming(own, globalId, owner, userName);
      text = PreparedIds.encode(prepared);
    } catch (EngineException e) {
      own.rollback(() -> done.accept(e));
      return;
    }
    own.prepare(text, () -> engine.listener().prepared(prepared), done);
  }

  @Override
  public void commitPrepared(
      String globalId,
      EngineTransaction.CommitResponse response,
      Consumer<@Nullable EngineException> done) {
    engine.threads().execute(() -> done.accept(engine.twoPhase().decide(globalId, owner, true)));
  }

  @Override
  public void rollbackPrepared(String globalId, Consumer<@Nullable EngineException> done) {
    engine.threads().execute(() -> done.accept(engine.twoPhase().decide(globalId, owner, false)));
  }

  @Override
  public void close() {}
}
