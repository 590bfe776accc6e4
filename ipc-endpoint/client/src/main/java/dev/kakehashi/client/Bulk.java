package dev.kakehashi.client;

import dev.kakehashi.client.CopyProgress.Stage;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Loads and dumps of files, through a session: files that the endpoint reaches, and files or streams of this process.
///
/// Each runs in the transaction that this was made for, or as one of its own. Used by the session's thread; [#cancel()] may come from any.
public final class Bulk {
  /// Between two looks at the progress.
  private static final long PROGRESS_NANOS = 200_000_000L;

  private static final String PROGRESS =
      "SELECT bytes_processed, bytes_total, rows_processed, rows_rejected"
          + " FROM kakehashi_catalog.copies WHERE statement = $1 ORDER BY job_id DESC LIMIT 1";

  private final Session session;
  private @Nullable Transaction transaction;
  private CopyProgress.@Nullable Listener listener;
  private volatile boolean canceled;
  private volatile @Nullable Rows running;

  private Bulk(Session session, @Nullable Transaction transaction) {
    this.session = session;
    this.transaction = transaction;
  }

  /// Each load and dump is a transaction of its own.
  public static Bulk of(Session session) {
    return new Bulk(session, null);
  }

  /// Loads and dumps are part of a transaction of the session.
  public static Bulk in(Session session, Transaction transaction) {
    return new Bulk(session, transaction);
  }

  /// Loads and dumps are part of the transaction from now on.
  public Bulk within(Transaction newTransaction) {
    transaction = newTransaction;
    return this;
  }

  /// Says who is told of progress from now on.
  public Bulk onProgress(CopyProgress.Listener told) {
    listener = told;
    return this;
  }

  /// Loads files that the endpoint reaches.
  ///
  /// @param location `name:path` below a location of the endpoint's settings, perhaps with `*` and `?`
  /// @throws EndpointException 42501, 58P01, 22P04, 57014, ...: nothing is loaded then, unless the option `batch_rows` is there
  public LoadOutcome load(CopyCommand command, String location) {
    require(command.isLoad(), "this command dumps");
    try (PreparedStatement statement = session.prepare(command.sql(location));
        Rows rows = query(statement)) {
      running(rows, statement.sql(), Stage.LOADING);
      return LoadOutcome.of(rows);
    } finally {
      running = null;
    }
  }

  /// Loads what a stream has: it is sent to the endpoint first, which keeps it until the load has ended.
  ///
  /// @param totalBytes for the progress; 0: not known
  /// @throws IOException from the stream
  public LoadOutcome load(CopyCommand command, InputStream in, long totalBytes) throws IOException {
    require(command.isLoad(), "this command dumps");
    try (SentFile sent = send(in, totalBytes)) {
      return load(command, sent.location());
    }
  }

  /// Sends what a stream has to the endpoint. It is there until the result is closed.
  ///
  /// @param totalBytes for the progress; 0: not known
  /// @throws IOException from the stream
  public SentFile send(InputStream in, long totalBytes) throws IOException {
    SentFile file = SentFile.begin(session);
    try {
      file.send(
          in,
          sent -> {
            checkCanceled();
            tell(new CopyProgress(Stage.SENDING, sent, totalBytes, 0, 0));
          });
      return file;
    } catch (IOException | RuntimeException e) {
      file.closeAfter(e);
      throw e;
    }
  }

  /// Loads a file of this process.
  public LoadOutcome load(CopyCommand command, Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return load(command, in, Files.size(file));
    }
  }

  /// Shows what is in a file that the endpoint reaches.
  ///
  /// @param location `name:path` below a location of the endpoint's settings
  /// @param options of a COPY, as SQL writes them, without parentheses
  public List<InspectedFile> inspect(String location, String options) {
    try (PreparedStatement statement =
            session.prepare(
                "SELECT file, kind, name, value FROM kakehashi_inspect($1, $2)",
                TypeOid.TEXT,
                TypeOid.TEXT);
        Rows rows = session.query(statement, statement.parameters().addRow(location, options))) {
      running = rows;
      checkCanceled();
      return InspectedFile.of(rows);
    } finally {
      running = null;
    }
  }

  /// Dumps into files that the endpoint reaches. They are there, whole and under their names, when this returns; and stay if the
  /// transaction is rolled back.
  ///
  /// @param location `name:path` below a location of the endpoint's settings
  /// @throws EndpointException 42501, 58P02, 53100, 57014, ...: no file is there then
  public List<DumpOutcome> dump(CopyCommand command, String location) {
    require(!command.isLoad(), "this command loads");
    try (PreparedStatement statement = session.prepare(command.sql(location));
        Rows rows = query(statement)) {
      running(rows, statement.sql(), Stage.DUMPING);
      return DumpOutcome.of(rows);
    } finally {
      running = null;
    }
  }

  /// Dumps into a stream, which is not closed.
  ///
  /// @return bytes written
  /// @throws IOException from the stream
  public long dump(CopyCommand command, OutputStream out) throws IOException {
    require(!command.isLoad(), "this command loads");
    long bytes = 0;
    try (PreparedStatement statement = session.prepare(command.sqlToOutput());
        Rows rows = query(statement)) {
      running = rows;
      checkCanceled();
      while (rows.next()) {
        byte[] chunk = rows.getBytes(0);
        out.write(chunk);
        bytes += chunk.length;
        tell(new CopyProgress(Stage.DUMPING, bytes, 0, 0, 0));
      }
      return bytes;
    } finally {
      running = null;
    }
  }

  /// Dumps into a file of this process. It has its name when all of it is on disk.
  ///
  /// @return its bytes
  /// @throws FileAlreadyExistsException unless `replace`
  public long dump(CopyCommand command, Path file, boolean replace) throws IOException {
    if (!replace && Files.exists(file)) {
      throw new FileAlreadyExistsException(file.toString());
    }
    Path directory = file.toAbsolutePath().normalize().getParent();
    if (directory == null || !Files.isDirectory(directory)) {
      throw new NoSuchFileException(String.valueOf(directory));
    }
    Path part = directory.resolve("." + file.getFileName() + "." + UUID.randomUUID() + ".part");
    try {
      long bytes;
      try (FileChannel channel =
              FileChannel.open(part, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
          OutputStream out = Channels.newOutputStream(channel)) {
        bytes = dump(command, out);
        channel.force(true);
      }
      if (replace) {
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      } else {
        // A link fails where a name is taken, which a rename does not.
        Files.createLink(file, part);
      }
      return bytes;
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /// Ends what is going on, with 57014, and whatever is asked for afterwards.
  public void cancel() {
    canceled = true;
    Rows rows = running;
    if (rows != null) {
      rows.cancel();
    }
  }

  private Rows query(PreparedStatement statement) {
    checkCanceled();
    return transaction == null ? session.query(statement) : transaction.query(statement);
  }

  /// Waits for the first row or the end, and tells of the progress meanwhile: of this statement, or another one of the same text.
  private void running(Rows rows, String sql, Stage stage) {
    running = rows;
    if (canceled) {
      rows.cancel(); // came before anybody could see the rows
    }
    if (listener == null) {
      return;
    }
    try (PreparedStatement question = session.prepare(PROGRESS, TypeOid.TEXT)) {
      while (!rows.isReady(PROGRESS_NANOS)) {
        try (Rows answer = session.query(question, question.parameters().addRow(sql))) {
          if (answer.next()) {
            tell(
                new CopyProgress(
                    stage,
                    answer.getLong(0),
                    answer.getLong(1),
                    answer.getLong(2),
                    answer.getLong(3)));
          }
        }
      }
    }
  }

  private void tell(CopyProgress progress) {
    if (listener != null) {
      listener.progressed(progress);
    }
  }

  private void checkCanceled() {
    if (canceled) {
      throw EndpointException.of(ErrorCode.QUERY_CANCELED, "canceled by the client");
    }
  }

  private static void require(boolean condition, String message) {
    if (!condition) {
      throw new IllegalArgumentException(message);
    }
  }
}
