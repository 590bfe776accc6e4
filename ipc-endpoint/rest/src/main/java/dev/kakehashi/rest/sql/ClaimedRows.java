package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.formats.RowEncoder;
import dev.kakehashi.requests.RequestUser;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Rows that are the client's as soon as their statement has ended, as leases of tasks are. If the answer does not reach him, each is given
/// back by a statement that gets the text of its first column.
///
/// The rows are read by one thread at a time. [#giveBack] may come from any thread.
final class ClaimedRows {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimedRows.class);
  private static final TextQueries.Limits ONE = new TextQueries.Limits(1, 64, 64, 0);

  /// More than one batch has.
  private static final TextQueries.Limits ALL =
      new TextQueries.Limits(Integer.MAX_VALUE, 1024, Long.MAX_VALUE, 0);

  private final SqlService service;
  private final RequestUser user;
  private final String sql;

  /// Claims that were not given back. Guarded by this.
  private final List<String> claims = new ArrayList<>();

  /// Guarded by this: rows that are read later are given back at once.
  private boolean isLost;

  /// @param sql that gives one back
  ClaimedRows(SqlService service, RequestUser user, String sql) {
    this.service = service;
    this.user = user;
    this.sql = sql;
  }

  /// The answer does not reach the client. Does not block. Further calls have no effect.
  void giveBack() {
    List<String> lost;
    synchronized (this) {
      isLost = true;
      lost = List.copyOf(claims);
      claims.clear();
    }
    giveBack(lost);
  }

  /// The answer has broken off: rows that nobody has read from the statement are given back, too. Its commit may have come before.
  /// Waits until the statement has ended, which is canceled.
  ///
  /// @throws InterruptedException if the thread is interrupted while it waits; rows that come later stay claimed until their leases end
  void giveBackRest(StatementRun running) throws InterruptedException {
    giveBack();
    running.cancel();
    ResultStream rows = running.rows();
    for (ResultStream.Chunk chunk = rows.next(); chunk != null; chunk = rows.next()) {
      try {
        add(claims(running.statement().columns(), chunk.batch()));
      } finally {
        rows.release(chunk);
      }
    }
  }

  /// Texts of the first column of a batch.
  private static List<String> claims(List<Statement.Column> columns, MemorySegment batch) {
    RowTexts texts = new RowTexts(columns, ALL);
    texts.add(batch);
    List<String> first = new ArrayList<>();
    for (@Nullable String[] row : texts.result(0).rows()) {
      first.add(Objects.requireNonNull(row[0]));
    }
    return first;
  }

  private void giveBack(List<String> lost) {
    if (!lost.isEmpty()) {
      Thread.ofVirtual().name("http-give-back").start(() -> lost.forEach(this::giveBack));
    }
  }

  private void giveBack(String claim) {
    try {
      new TextQueries(service).run(user, sql, List.of(claim), ONE, cancel -> {});
    } catch (RuntimeException e) {
      // Its lease has passed by now, or the endpoint stops: either way somebody else gets it.
      LOG.debug("what an answer carried to a client who has gone was not given back", e);
    }
  }

  private void add(List<String> read) {
    boolean late;
    synchronized (this) {
      late = isLost;
      if (!late) {
        claims.addAll(read);
      }
    }
    if (late) {
      giveBack(read);
    }
  }

  /// An encoder that does the same as another one, and notes what goes through it.
  RowEncoder noting(RowEncoder encoder) {
    return new Noting(encoder);
  }

  private final class Noting implements RowEncoder {
    private final RowEncoder encoder;
    private List<Statement.Column> columns = List.of();

    Noting(RowEncoder encoder) {
      this.encoder = encoder;
    }

    @Override
    public void begin(List<Statement.Column> described, OutputStream out) throws IOException {
      columns = described;
      encoder.begin(described, out);
    }

    @Override
    public void rows(MemorySegment batch) throws IOException {
      add(claims(columns, batch));
      encoder.rows(batch);
    }

    @Override
    public void flush() throws IOException {
      encoder.flush();
    }

    @Override
    public void end(long rowCount) throws IOException {
      encoder.end(rowCount);
    }

    @Override
    public void fail(byte[] problem) throws IOException {
      encoder.fail(problem);
    }

    @Override
    public long byteCount() {
      return encoder.byteCount();
    }
  }
}
