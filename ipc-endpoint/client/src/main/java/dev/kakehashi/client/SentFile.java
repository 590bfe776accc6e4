package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongConsumer;

/// A file on its way to the endpoint, which keeps it for its sender until [#close()]. Used by the session's thread.
public final class SentFile implements AutoCloseable {
  /// Longest piece, in bytes.
  private static final int PIECE_BYTES = 1 << 20;

  /// Room of a row of id, offset and piece beside the piece, in bytes.
  private static final int ROW_BYTES = 512;

  private final Session session;
  private final String id;

  private SentFile(Session session, String id) {
    this.session = session;
    this.id = id;
  }

  /// @throws EndpointException 53100, 53400, ...
  static SentFile begin(Session session) {
    try (PreparedStatement statement = session.prepare("SELECT kakehashi_upload_begin()");
        Rows rows = session.query(statement)) {
      if (!rows.next()) {
        throw EndpointException.of(
            ErrorCode.MALFORMED_MESSAGE, "endpoint has begun no upload, and no error");
      }
      return new SentFile(session, rows.getString(0));
    }
  }

  /// Names it to COPY.
  public String location() {
    return "upload:" + id;
  }

  /// Sends all that a stream has.
  ///
  /// @param sent is told the bytes so far after each piece
  void send(InputStream in, LongConsumer sent) throws IOException {
    // Buffers that the session has already may be filled.
    boolean large = !session.hasBuffers();
    int pieceBytes =
        Math.min(PIECE_BYTES, large ? session.limits().maxBatchBytes() / 2 : inlineBytes());
    try (PreparedStatement append =
        session.prepare(
            "SELECT kakehashi_upload_append($1, $2, $3)",
            TypeOid.TEXT,
            TypeOid.INT8,
            TypeOid.BYTEA)) {
      Parameters parameters =
          large
              ? session.acquireBuffers(1, pieceBytes + ROW_BYTES).parameters(0, append, pieceBytes)
              : append.parameters();
      long length = 0;
      for (byte[] piece = in.readNBytes(pieceBytes);
          piece.length > 0;
          piece = in.readNBytes(pieceBytes)) {
        parameters.reset();
        parameters.addRow(id, length, piece);
        length = append(append, parameters);
        sent.accept(length);
      }
    } finally {
      if (large && session.isAlive()) {
        session.releaseBuffers();
      }
    }
  }

  private int inlineBytes() {
    return session.limits().queue().maxFrameBytes() / 2 - ROW_BYTES;
  }

  private long append(PreparedStatement append, Parameters parameters) {
    try (Rows rows = session.query(append, parameters)) {
      if (!rows.next()) {
        throw EndpointException.of(
            ErrorCode.MALFORMED_MESSAGE, "endpoint has appended nothing, and there is no error");
      }
      return rows.getLong(0);
    }
  }

  /// Has it removed. One that is left, because the session is gone, goes by its age.
  @Override
  public void close() {
    if (!session.isAlive()) {
      return;
    }
    try (PreparedStatement statement =
            session.prepare("SELECT kakehashi_upload_remove($1)", TypeOid.TEXT);
        Rows rows = session.query(statement, statement.parameters().addRow(id))) {
      while (rows.next()) {
        // One row, of nothing.
      }
    }
  }

  /// The same when something has failed before.
  void closeAfter(Exception failure) {
    try {
      close();
    } catch (EndpointException e) {
      failure.addSuppressed(e);
    }
  }
}
