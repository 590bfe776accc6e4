package dev.kakehashi.tools.shell.http;

import dev.kakehashi.client.Bulk;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.ResultColumn;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.formats.Format;
import dev.kakehashi.formats.RowStreamReader;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.tools.shell.Link;
import dev.kakehashi.tools.shell.Running;
import dev.kakehashi.tools.shell.ShellException;
import dev.kakehashi.tools.shell.SqlScanner;
import dev.kakehashi.tools.shell.Variables;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The way over HTTP: `/v1/sql` and `/v1/transactions`, one request at a time on one connection.
///
/// It speaks HTTP/1.1 itself, because the JDK's client knows no Unix sockets and gives nobody the fields behind a body. A cancel closes the
/// connection, which the endpoint takes as such. Used by one thread; [#cancel] by any.
public final class HttpLink extends Link {
  /// A connection that was idle for longer is not used again: the endpoint may be closing it.
  private static final long STALE_NANOS = 5_000_000_000L;

  private static final int MOST_PROBLEM_BYTES = 1 << 20;
  private static final int OK = 200;
  private static final int LAST_OK = 299;
  private static final Set<String> QUERIES = Set.of("SELECT", "VALUES", "TABLE", "WITH");

  private final HttpPlace place;
  private final String authorization;
  private @Nullable String handle;
  private boolean active;
  private boolean gone;

  /// Closed by [#cancel], too. Changes under the lock of `this`.
  private volatile @Nullable HttpPipe pipe;

  private boolean canceled; // guarded by this

  /// Connects with the first request.
  ///
  /// @param authorization field of each request; empty: none
  public HttpLink(HttpPlace place, String authorization, Manner manner) {
    super(manner);
    this.place = place;
    this.authorization = authorization;
  }

  @Override
  public String place() {
    return place.text();
  }

  @Override
  public Link beside() {
    return new HttpLink(place, authorization, Manner.DEFAULT);
  }

  @Override
  public boolean isAlive() {
    return !gone;
  }

  @Override
  protected boolean reconnectNow() {
    handle = null;
    gone = false;
    try (Running running = start("SELECT 1")) {
      while (running.next() != null) {
        // one row
      }
      return true;
    } catch (EndpointException unreachable) {
      return false;
    } catch (IOException failed) {
      throw broken(failed);
    }
  }

  @Override
  public Bulk bulk() {
    throw new ShellException(
        "\\copy: not over HTTP; send the file to /v1/tables/TABLE/rows, or use COPY with a location of the endpoint");
  }

  // ---- requests ----

  private HttpAnswer post(String path, String transaction, byte[] body) throws IOException {
    HttpPipe open = connected();
    StringBuilder head = new StringBuilder(256);
    head.append("POST ").append(path).append(" HTTP/1.1\r\nHost: ").append(place.hostField());
    if (!authorization.isEmpty()) {
      head.append("\r\nAuthorization: ").append(authorization);
    }
    if (!transaction.isEmpty()) {
      head.append("\r\n").append(TransactionField.NAME).append(": ").append(transaction);
    }
    if (body.length > 0) {
      head.append("\r\nContent-Type: application/sql\r\nAccept: ").append(Format.ROWS.mediaType());
    }
    head.append("\r\nUser-Agent: kakehashi-sql\r\nContent-Length: ")
        .append(body.length)
        .append("\r\n\r\n");
    byte[] first = head.toString().getBytes(StandardCharsets.UTF_8);
    byte[] all = new byte[first.length + body.length];
    System.arraycopy(first, 0, all, 0, first.length);
    System.arraycopy(body, 0, all, first.length, body.length);
    open.out.write(all);
    open.out.flush();
    return new HttpAnswer(open.in);
  }

  private HttpPipe connected() throws IOException {
    @Nullable HttpPipe open = pipe;
    if (open != null && System.nanoTime() - open.idleSince > STALE_NANOS) {
      disconnect();
      open = null;
    }
    if (open == null) {
      open = HttpPipe.open(place, !authorization.isEmpty());
    }
    synchronized (this) {
      pipe = open;
      canceled = false;
    }
    return open;
  }

  private void disconnect() {
    @Nullable HttpPipe open;
    synchronized (this) {
      open = pipe;
      pipe = null;
    }
    if (open != null) {
      close(open);
    }
  }

  private static void close(HttpPipe open) {
    try {
      open.close();
    } catch (IOException failed) {
      throw lost("could not close the connection", failed);
    }
  }

  private static EndpointException lost(String what, IOException failed) {
    return EndpointException.of(
        Failure.of(ErrorCode.CONNECTION_FAILURE, what + ": " + failed.getMessage()));
  }

  /// Failure of a request whose exchange broke off.
  private EndpointException broken(IOException failed) {
    boolean wanted;
    synchronized (this) {
      wanted = canceled;
    }
    disconnect();
    if (wanted) {
      return EndpointException.of(
          Failure.of(ErrorCode.QUERY_CANCELED, "canceling statement due to user request"));
    }
    gone = true;
    return lost("could not ask \"" + place.text() + "\"", failed);
  }

  @Override
  public void cancel() {
    @Nullable HttpPipe open;
    synchronized (this) {
      canceled = true;
      open = pipe;
      pipe = null;
    }
    if (open != null) {
      close(open);
    }
  }

  /// The answer's body is at its end.
  private void idle(HttpAnswer answer) throws IOException {
    if (!answer.body().isEnded() && answer.body().read() >= 0) {
      throw new IOException("the answer is longer than it should be");
    }
    @Nullable HttpPipe open = pipe;
    if (open != null) {
      open.idleSince = System.nanoTime();
    }
    noteTransaction(answer);
    if (answer.field("connection").equalsIgnoreCase("close")) {
      disconnect();
    }
  }

  private void noteTransaction(HttpAnswer answer) {
    String field = answer.field("kakehashi-transaction");
    if (handle != null && !field.isEmpty()) {
      active = TransactionField.isActive(field);
    }
  }

  private EndpointException problem(HttpAnswer answer) throws IOException {
    byte[] body = answer.body().readNBytes(MOST_PROBLEM_BYTES);
    idle(answer);
    return EndpointException.of(ProblemReader.failure(answer.status(), body));
  }

  private static boolean isWell(HttpAnswer answer) {
    return answer.status() >= OK && answer.status() <= LAST_OK;
  }

  /// A request about a transaction.
  private HttpAnswer act(String path, String transaction) {
    try {
      HttpAnswer answer = post(path, transaction, new byte[0]);
      if (!isWell(answer)) {
        throw problem(answer);
      }
      byte[] unused = answer.body().readNBytes(MOST_PROBLEM_BYTES);
      if (unused.length == MOST_PROBLEM_BYTES) {
        throw new IOException("the answer is longer than it should be");
      }
      idle(answer);
      return answer;
    } catch (IOException failed) {
      throw broken(failed);
    }
  }

  // ---- transactions ----

  @Override
  public boolean isInTransaction() {
    return handle != null;
  }

  @Override
  protected boolean carries(Manner wanted) {
    TransactionOptions options = wanted.options();
    return options.writePreserve().isEmpty()
        && options.readInclude().isEmpty()
        && options.readExclude().isEmpty()
        && options.priority() == 0
        && options.lease().isZero();
  }

  @Override
  protected void beginNow(TransactionOptions options) {
    HttpAnswer answer = act("/v1/transactions", TransactionField.begin(options));
    handle = TransactionField.handle(answer.field("kakehashi-transaction"));
    active = true;
  }

  @Override
  protected void commitNow(CommitResponse response) {
    String ended = end();
    act(
        "/v1/transactions/"
            + ended
            + "/commit"
            + (response == CommitResponse.AVAILABLE ? "?response=available" : ""),
        "");
  }

  private String end() {
    String ended = Objects.requireNonNull(handle);
    handle = null;
    return ended;
  }

  @Override
  protected void rollbackNow() {
    boolean open = active;
    String ended = end();
    if (open) {
      act("/v1/transactions/" + ended + "/rollback", "");
    }
  }

  private static ShellException noSavepoints() {
    return new ShellException("savepoints do not go over HTTP");
  }

  @Override
  protected void savepointNow() {
    throw noSavepoints();
  }

  @Override
  protected void releaseNow(int level) {
    throw noSavepoints();
  }

  @Override
  protected void rollbackToNow(int level) {
    throw noSavepoints();
  }

  /// A statement of the engine does it, which ends the transaction.
  @Override
  protected void prepareNow(String globalId) {
    try (Running running =
        start("PREPARE TRANSACTION " + Variables.quoted(globalId, '\'').strip())) {
      while (running.next() != null) {
        // there are none
      }
      handle = null;
    } catch (IOException failed) {
      throw broken(failed);
    }
  }

  // ---- statements ----

  @Override
  protected Running start(String sql) {
    String transaction =
        handle == null
            ? TransactionField.auto(manner().options(), manner().response())
            : TransactionField.resumed(handle);
    try {
      HttpAnswer answer = post("/v1/sql", transaction, sql.getBytes(StandardCharsets.UTF_8));
      if (!isWell(answer)) {
        throw problem(answer);
      }
      String type = answer.field("content-type");
      if (!type.equals(Format.ROWS.mediaType())) {
        disconnect();
        throw new ShellException("the endpoint answers with \"" + type + "\"; is it an older one?");
      }
      return new RunningAnswer(
          answer,
          new RowStreamReader(answer.body()),
          QUERIES.contains(SqlScanner.words(sql, 1)[0]));
    } catch (IOException failed) {
      throw broken(failed);
    } catch (MalformedFrameException malformed) {
      throw broken(new IOException(malformed.getMessage(), malformed));
    }
  }

  /// HTTP describes nothing that is not run: the query gives no row.
  @Override
  public List<ResultColumn> describe(String sql) {
    if (!QUERIES.contains(SqlScanner.words(sql, 1)[0])) {
      throw new ShellException("\\gdesc: over HTTP for queries alone");
    }
    try (Running running = start("SELECT * FROM (" + sql + "\n) described LIMIT 0")) {
      List<ResultColumn> columns = running.columns();
      while (running.next() != null) {
        // there are none
      }
      return columns;
    } catch (IOException failed) {
      throw broken(failed);
    }
  }

  /// A transaction that is open ends by its lease if it cannot be rolled back.
  @Override
  public void close() {
    try {
      if (handle != null && !gone) {
        rollbackNow();
      }
    } finally {
      disconnect();
    }
  }

  private final class RunningAnswer implements Running {
    private final HttpAnswer answer;
    private final RowStreamReader reader;
    private final List<ResultColumn> columns;
    private final boolean query;
    private boolean ended;

    RunningAnswer(HttpAnswer answer, RowStreamReader reader, boolean query) {
      this.answer = answer;
      this.reader = reader;
      this.columns = reader.columns().stream().map(RunningAnswer::column).toList();
      this.query = query;
    }

    private static ResultColumn column(Statement.Column column) {
      return new ResultColumn(column.name(), column.typeOid(), column.typeModifier());
    }

    @Override
    public List<ResultColumn> columns() {
      return columns;
    }

    @Override
    public boolean isQuery() {
      return query;
    }

    @Override
    public @Nullable MemorySegment next() {
      try {
        @Nullable MemorySegment batch = reader.next();
        if (batch != null || ended) {
          return batch;
        }
        ended = true;
        if (reader.problem().length > 0) {
          // Its framing is broken on purpose.
          disconnect();
          throw EndpointException.of(ProblemReader.failure(OK, reader.problem()));
        }
        idle(answer);
        return null;
      } catch (IOException failed) {
        ended = true;
        throw broken(failed);
      } catch (MalformedFrameException malformed) {
        ended = true;
        throw broken(new IOException(malformed.getMessage(), malformed));
      }
    }

    @Override
    public long rows() {
      return reader.rowCount();
    }

    @Override
    public void close() {
      if (!ended) {
        ended = true;
        disconnect();
      }
    }
  }
}
