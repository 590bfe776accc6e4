package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.error.ThrownErrors;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireErrors;
import dev.kakehashi.pgwire.wire.WireException;
import dev.kakehashi.pgwire.wire.WireParameters;
import dev.kakehashi.pgwire.wire.WireRows;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// One execution. Runs on the lane of its transaction, except [#cancel()]: any thread.
///
/// Rows of a result are fetched in portions from a portal, so that other statements of the transaction can run while the reader is slow.
/// Several rows of parameters go in rounds: many Binds and Executes at once.
final class WireRun implements Execution, WireExchange.Taker {
  private static final int MOST_ROWS_OF_ROUND = 512;
  private static final int MOST_QUERIES_OF_ROUND = 256;

  /// Bytes of a round of queries after its first row: as much as a server takes while nobody reads its answers.
  private static final int BYTES_OF_ROUND = 16 << 10;

  private static final int BYTES_OF_CHANGES = 1 << 20;
  private static final int FIRST_FETCH = 200;
  private static final int FETCH_OF_MANY = 64;
  private static final int MOST_FETCHED = 100_000;
  private static final long FETCH_BYTES = 1 << 20;

  private final PgWireTransaction transaction;
  private final PgWireStatement statement;
  private final ParameterBatch batch;
  private final ExecuteOptions options;
  private final ResultSink sink;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final boolean returnsRows;

  // Lane only.
  private final List<RowPortal> portals = new ArrayList<>();
  private @Nullable WireParameters parameters;
  private @Nullable WireRows rows;
  private String zone = "";
  private int level;
  private int nextRow;
  private long changed;
  private int head;
  private int firstOfRound;
  private int prefix;
  private int fetch = FIRST_FETCH;
  private long fetchedRows;
  private long fetchedBytes;
  private boolean started;
  private boolean ended;
  private int mine;
  private int counted; // of them, those that have ended
  private boolean ran;
  private boolean copying;
  private boolean gathering;
  private boolean rowByRow;
  private long sent;

  private volatile @Nullable EngineException canceled;

  WireRun(
      PgWireTransaction transaction,
      PgWireStatement statement,
      ParameterBatch batch,
      ExecuteOptions options,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    this.transaction = transaction;
    this.statement = statement;
    this.batch = batch;
    this.options = options;
    this.sink = sink;
    this.done = done;
    this.returnsRows = !statement.columns().isEmpty();
  }

  PgWireStatement statement() {
    return statement;
  }

  ExecuteOptions options() {
    return options;
  }

  // ---- from any thread ----

  @Override
  public void cancel() {
    cancel(
        new EngineException(ErrorCode.QUERY_CANCELED, "canceling statement due to user request"));
  }

  void cancel(EngineException reason) {
    if (canceled == null) {
      canceled = reason;
    }
    transaction.wakeCanceled(this, reason);
  }

  /// Why it is to end; null: it may go on.
  @Nullable EngineException canceled() {
    return canceled;
  }

  @Override
  public long rowsScanned() {
    return 0;
  }

  // ---- on the lane ----

  /// Begins.
  ///
  /// @param depth how many savepoints there are
  void start(int depth) {
    level = depth;
    step(() -> {
      if (!started) {
        started = true;
        parameters = new WireParameters(batch, statement.parameterTypes());
        rows = new WireRows(sink, statement.columnTypes());
      }
      rounds();
    });
  }

  /// Goes on when the reader has made room, or a cancel has come.
  void resume() {
    step(() -> {
      if (started) {
        rounds();
      }
    });
  }

  /// How many savepoints there were when it began.
  int level() {
    return level;
  }

  /// Savepoints above a level are no more.
  void released(int depth) {
    level = Math.min(level, depth);
  }

  /// Whether all commands of the last round have said how many rows they have changed.
  boolean isCounted() {
    return counted == mine;
  }

  boolean hasEnded() {
    return ended;
  }

  private void step(Runnable work) {
    boolean again = !ended;
    while (again) {
      again = false;
      try {
        EngineException refusal = transaction.refusal();
        if (refusal != null) {
          end(null, refusal);
          return;
        }
        checkCanceled();
        work.run();
      } catch (EngineException e) {
        fail(e);
      } catch (ServerError e) {
        again = beginsAnew(e);
      } catch (MalformedFrameException e) {
        fail(new EngineException(ErrorCode.MALFORMED_MESSAGE, String.valueOf(e.getMessage()), e));
      } catch (WireException e) {
        again = transaction.server().mayRepeat(this, e);
        if (again) {
          again();
        } else {
          end(null, transaction.lost(e));
        }
      } catch (RuntimeException | Error e) {
        // A client without an answer would wait for ever. Some of the server's may be unread.
        end(null, transaction.broken(ThrownErrors.of(e)));
      }
    }
  }

  /// Whether it begins anew after an error of the server; if not, it has ended. To take back what was done may lose the connection.
  private boolean beginsAnew(ServerError e) {
    try {
      if (copying && canceled == null && CopyRound.mayBeOther(e)) {
        goesRowByRow();
        return true;
      }
      // It may refuse the form alone; if an error is the row's, that comes again in its place.
      if (gathering && canceled == null && !hasStaged() && CopyRound.mayBeOther(e)) {
        statement.gathersNothing();
        goesRowByRow();
        return true;
      }
      if (transaction.writesAfterAll(this, e) || transaction.server().waitsForNode(this, e)) {
        again();
        return true;
      }
    } catch (WireException | ServerError lost) {
      end(null, transaction.lost(lost));
      return false;
    }
    fail(WireErrors.of(e));
    return false;
  }

  private void checkCanceled() {
    EngineException reason = canceled;
    if (reason != null) {
      throw reason;
    }
  }

  private void fail(EngineException failure) {
    EngineException reason = canceled;
    if (Statement.OTHER_COLUMNS.equals(failure.getMessage())) {
      transaction.server().forget(statement, zone);
    }
    boolean byCancel = reason != null && failure.code() == ErrorCode.QUERY_CANCELED;
    try {
      if (ran) {
        transaction.server().undo(this);
      }
    } catch (WireException | ServerError e) {
      end(null, transaction.lost(e));
      return;
    }
    WireRows given = rows;
    if (given != null && given.rows() > 0 && statement.kind() == Statement.Kind.QUERY) {
      given.finish(); // what has come before the failure holds
    }
    end(null, byCancel ? reason : failure);
  }

  /// Ends it, once.
  void end(@Nullable Long count, @Nullable EngineException failure) {
    if (ended) {
      return;
    }
    ended = true;
    WireRows given = rows;
    if (given != null) {
      given.abandon();
    }
    for (RowPortal portal : portals) {
      portal.backlog.clear();
    }
    transaction.ended(this, portalNames());
    done.accept(count, failure);
  }

  private List<String> portalNames() {
    return portals.stream().map(portal -> portal.name).toList();
  }

  private WireRows rows() {
    WireRows made = rows;
    if (made == null) {
      throw new IllegalStateException("the statement has not started");
    }
    return made;
  }

  private WireParameters parameters() {
    WireParameters made = parameters;
    if (made == null) {
      throw new IllegalStateException("the statement has not started");
    }
    return made;
  }

  /// Runs rounds until the end, or until the reader has to make room.
  private void rounds() {
    while (true) {
      if (!deliver()) {
        sink.whenWritable(() -> transaction.resume(this));
        return;
      }
      if (nextRow >= parameters().rows()) {
        break;
      }
      round();
      if (!transaction.isCommitted()) {
        checkCanceled();
      }
    }
    WireRows all = rows();
    all.finish();
    end(statement.kind() == Statement.Kind.QUERY ? all.rows() : changed, null);
  }

  /// Hands over what was fetched, and fetches what its portals still have.
  ///
  /// @return false: the reader has to make room first
  private boolean deliver() {
    while (head < portals.size()) {
      RowPortal portal = portals.get(head);
      while (!portal.backlog.isEmpty()) {
        byte[] row = portal.backlog.getFirst();
        if (!rows().add(row, 0, row.length)) {
          return false;
        }
        portal.backlog.removeFirst();
      }
      if (portal.complete) {
        head++;
      } else {
        fetch(portal);
        checkCanceled();
      }
    }
    transaction.server().closeLater(portalNames());
    portals.clear();
    head = 0;
    return true;
  }

  private void fetch(RowPortal portal) {
    WireExchange exchange = transaction.server().exchange(this);
    prefix = exchange.commands();
    firstOfRound = head;
    fetchedRows = 0;
    fetchedBytes = 0;
    mine = 1;
    exchange.execute(portal.name, fetch);
    transaction.server().run(exchange, this);
    adapt();
  }

  private void adapt() {
    if (fetchedRows > 0) {
      fetch = Math.clamp(FETCH_BYTES / Math.max(1, fetchedBytes / fetchedRows), 16, MOST_FETCHED);
    }
  }

  /// Runs a round, or begins anew row by row.
  private void round() {
    WireParameters given = parameters();
    int left = given.rows() - nextRow;
    InsertByCopy bulk = statement.bulk();
    if (bulk != null && !rowByRow && left >= InsertByCopy.FEWEST_ROWS) {
      copyRound(bulk, left);
      return;
    }
    LookupOfMany ofMany = statement.ofMany();
    if (ofMany != null && !rowByRow && left >= transaction.fewestToGather()) {
      gatherRound(ofMany, left);
      return;
    }
    WireExchange exchange = transaction.server().exchange(this);
    zone = transaction.server().zone();
    String name =
        exchange.statement(statement.sql(), statement.parameterTypes(), zone, returnsRows);
    prefix = exchange.commands();
    firstOfRound = portals.size();
    fetchedRows = 0;
    fetchedBytes = 0;
    int most = Math.min(left, returnsRows ? MOST_QUERIES_OF_ROUND : MOST_ROWS_OF_ROUND);
    int bytes = returnsRows ? BYTES_OF_ROUND : BYTES_OF_CHANGES;
    int rowsToFetch = left == 1 ? fetch : FETCH_OF_MANY;
    int start = -1;
    int bound = 0;
    RuntimeException refused = null;
    while (bound < most && (bound == 0 || exchange.out().size() - start < bytes)) {
      String portal = returnsRows ? transaction.server().newPortal() : "";
      int at = exchange.out().size();
      try {
        long sent =
            given.bind(exchange.out(), portal, name, nextRow + bound, statement.columnTypes());
        counts(sent);
      } catch (EngineException | MalformedFrameException e) {
        // Rows before it run: their series also has the savepoint that undoes the whole statement.
        exchange.out().truncate(at);
        refused = e;
        break;
      }
      if (start < 0) {
        start = exchange.out().size();
      }
      if (returnsRows) {
        portals.add(new RowPortal(portal));
        exchange.execute(portal, rowsToFetch);
      } else {
        exchange.execute(portal, 0);
      }
      bound++;
    }
    mine = bound;
    ran = true;
    counted = 0;
    boolean last = refused == null && !returnsRows && bound == left;
    transaction.runRound(exchange, this, last && statement.kind() == Statement.Kind.DML);
    if (refused != null) {
      throw refused;
    }
    nextRow += bound;
    if (left == 1) {
      adapt();
    }
  }

  /// All rows of parameters in one query. Its rows are those of one portal.
  private void gatherRound(LookupOfMany ofMany, int left) {
    WireExchange exchange = transaction.server().exchange(this);
    zone = transaction.server().zone();
    String name = exchange.statement(ofMany.sql(), ofMany.types(), zone, true);
    prefix = exchange.commands();
    firstOfRound = portals.size();
    fetchedRows = 0;
    fetchedBytes = 0;
    String portal = transaction.server().newPortal();
    parameters().bindArrays(exchange.out(), portal, name, nextRow, left, statement.columnTypes());
    portals.add(new RowPortal(portal));
    exchange.execute(portal, fetch);
    mine = 1;
    ran = true;
    counted = 0;
    gathering = true;
    transaction.server().run(exchange, this);
    nextRow += left;
    adapt();
  }

  private void copyRound(InsertByCopy bulk, int left) {
    WireExchange exchange = transaction.server().exchange(this);
    CopyRound round = new CopyRound(bulk, exchange);
    int bound = 0;
    if (statement.isCopied()) {
      bound = round.copy(parameters(), nextRow, left, this::counts);
    }
    round.look();
    ran = true;
    copying = true;
    try {
      transaction.server().run(exchange, this, round);
    } catch (ServerError e) {
      throw round.refused() == null ? e : round.refused();
    }
    copying = false;
    statement.copied(round.isSame());
    nextRow += bound;
    changed += round.count();
    if (!round.isSame() && bound > 0) {
      goesRowByRow();
    }
  }

  /// Undoes what was done, and begins anew with each row of parameters by itself.
  private void goesRowByRow() {
    rowByRow = true;
    transaction.server().undo(this);
    again();
  }

  /// Counts bytes of a row that is sent.
  private void counts(long bytes) {
    if (statement.kind() != Statement.Kind.QUERY) {
      sent += bytes;
    }
    transaction.sends(statement, bytes);
  }

  /// Whether the reader may have seen rows of it.
  boolean hasStaged() {
    WireRows given = rows;
    return given != null && given.hasStaged();
  }

  /// Begins anew, with another connection or in another mode; nothing of it was seen.
  void again() {
    portals.clear();
    head = 0;
    nextRow = 0;
    changed = 0;
    ran = false;
    copying = false;
    gathering = false;
    transaction.takesBack(sent);
    sent = 0;
    WireRows given = rows;
    if (given != null) {
      given.abandon();
    }
    rows = new WireRows(sink, statement.columnTypes());
  }

  // ---- answers ----

  @Override
  public void row(int command, byte[] from, int at, int length) {
    RowPortal portal = portals.get(firstOfRound + command - prefix);
    fetchedRows++;
    fetchedBytes += length;
    boolean next = portals.get(head).equals(portal) && portal.backlog.isEmpty();
    if (!next || !rows().add(from, at, length)) {
      portal.backlog.add(Arrays.copyOfRange(from, at, at + length));
    }
  }

  @Override
  public void ended(int command, boolean suspended, long count) {
    int index = command - prefix;
    if (index < 0 || index >= mine) {
      return;
    }
    counted++;
    if (statement.kind() != Statement.Kind.QUERY && !suspended) {
      changed += count;
    }
    if (!returnsRows) {
      return;
    }
    RowPortal portal = portals.get(firstOfRound + index);
    portal.complete = !suspended;
    while (head < portals.size()
        && portals.get(head).complete
        && portals.get(head).backlog.isEmpty()) {
      head++;
    }
    if (head == portals.size()) {
      head--; // the last one stays, so that there is always one that rows may be of
    }
  }

  @Override
  public void columns(List<Statement.Column> columns) {
    // With arrays in place of parameters those that show these have other names.
    boolean same =
        gathering
            ? Arrays.equals(
                columns.stream().mapToInt(Statement.Column::typeOid).toArray(),
                statement.columnTypes())
            : columns.equals(statement.columns());
    if (!same) {
      throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, Statement.OTHER_COLUMNS);
    }
  }
}
