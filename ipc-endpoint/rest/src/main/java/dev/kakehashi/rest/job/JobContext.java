package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import java.util.function.LongSupplier;

/// Context to which a running job tells of itself. Thread-safe, unless it says otherwise. Good until its work has returned.
public interface JobContext {
  /// The job's name for its owner.
  String token();

  String owner();

  /// Whether somebody has asked it to end.
  boolean isCanceled();

  /// Keeps the name of the transaction in which the job takes effect; it is durable when this returns. A job with a key must call it before
  /// that transaction can commit: after a crash the outcome of the transaction says whether the job took effect. Another call means that
  /// the transaction before was rolled back.
  ///
  /// @throws EngineException DISK_FULL, IO_ERROR; the transaction must not commit then
  void recordTransaction(String transactionToken);

  /// Registers the counter of the rows that it reads now.
  ///
  /// @param rows asked for the rows that were read so far; any thread, also after the end of the work
  void scans(LongSupplier rows);

  /// Rows sent or changed so far; the last number is that of the result. -1: not known, or it has something else than rows.
  void rowsWritten(long rows);

  /// The next file of the result, whose owner is the caller until it is published or discarded.
  ///
  /// @param mediaType as `text/csv`
  /// @param coding what the caller does to the bytes, as `gzip`; empty: nothing
  /// @param extension of the proposed name, as `csv.gz`
  /// @throws EngineException DISK_FULL, IO_ERROR, LIMIT_EXCEEDED
  ResultFile open(String mediaType, String coding, String extension);

  /// Size at which a result goes on in the next file, in bytes.
  long fileBytes();

  /// Keeps a small answer with the job instead of a file.
  ///
  /// @return false: there is no room for it among the kept answers; then it is to be a file
  boolean answer(StoredAnswer answer);
}
