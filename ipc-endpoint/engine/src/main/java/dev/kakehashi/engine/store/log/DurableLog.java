package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.LogFeed;
import dev.kakehashi.engine.api.LogRequest;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.api.SynchronousConfig;
import dev.kakehashi.engine.store.memory.NativeInput;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Where the store keeps what must survive: an ordered map of byte strings that changes in atomic, durable steps.
///
/// [#write] is called by one thread at a time; scans may run on several threads.
public interface DurableLog extends AutoCloseable {
  /// The queues whose changes are in this log, and which it closes; null: there are none.
  default @Nullable QueueSystem queues() {
    return null;
  }

  /// Applies the records in order, all of them or none; on return they survive power loss.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR or INTERNAL_ERROR; the same records may be tried again
  void write(List<LogRecord> records);

  /// Promises room to a record that is to be written later, so that a full disk refuses it now and not then. A record that [#write] gets
  /// was promised room, unless the caller can bear that it fails. On failure nothing has changed. Any thread.
  ///
  /// @param length of the record
  /// @param instead length of a record that was promised room and is not written any more; 0: none
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR or INTERNAL_ERROR
  default void reserve(int length, int instead) {}

  /// Bytes of changes from which on those of one record belong into a file beside it.
  default long longRecordBytes() {
    return Long.MAX_VALUE;
  }

  /// Begins a file for the changes of a record. Any thread.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR
  default SideFileWriter newSideFile() {
    throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "this log has no side files");
  }

  /// A record is not written, and what is beside it not needed. Any thread.
  default void forget(LogRecord record) {}

  /// Whether the records that were written have left enough of the heap to encode a long one: until they are applied they are kept there.
  /// Any thread.
  ///
  /// @param whenReady called once, from any thread, when it is worth to ask again, if the answer is false
  default boolean hasRoom(Runnable whenReady) {
    return true;
  }

  /// Calls `visitor` for the keys `[from, to)` in order.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  void read(byte[] from, byte[] to, EntryVisitor visitor);

  /// Like [#read], with buffers: easier to use, and slower.
  default void scan(byte[] from, byte[] to, Visitor visitor) {
    read(from, to, new BufferedEntries(visitor));
  }

  /// The greatest key in `[from, to)`.
  Optional<byte[]> lastKey(byte[] from, byte[] to);

  /// Holds the files that are this map as of a moment not before this call, with names relative to the store's directory.
  ///
  /// @param workspace a directory on the same file system that does not exist; gone when the backup is closed
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR or INTERNAL_ERROR, FEATURE_NOT_SUPPORTED
  default Backup backup(Path workspace) {
    throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "this log cannot be backed up");
  }

  /// Activity of the log since it was opened. Times in milliseconds since 1970, 0: never.
  ///
  /// @param groups that were written
  /// @param records in them
  /// @param nanos that this took
  /// @param bytes since the checkpoint
  /// @param segments that have them
  /// @param unappliedBytes of records that the base image does not have
  record Activity(
      long groups,
      long records,
      long nanos,
      long bytes,
      long segments,
      long unappliedBytes,
      long checkpoints,
      long lastCheckpointMillis) {
    static final Activity NONE = new Activity(0, 0, 0, 0, 0, 0, 0, 0);
  }

  /// Begins to send the log to a standby, from its position on.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED; NOT_IN_PREREQUISITE_STATE if it cannot go on from there; OBJECT_IN_USE if another one
  ///     of its name follows the log
  default LogFeed feed(LogRequest request) throws IOException {
    throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "this log has no standbys");
  }

  /// Keeps the log from now on for a standby that asks later. Any thread.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED, OBJECT_IN_USE
  default void keepFor(String standby) throws IOException {
    throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "this log has no standbys");
  }

  /// Lets [#write] wait for a standby from now on; null: for none. Any thread.
  default void synchronous(@Nullable SynchronousConfig config) {
    if (config != null) {
      throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "this log has no standbys");
    }
  }

  /// Bytes of the log that are kept for a standby.
  default void standbyBacklog(long bytes) {}

  /// Its timelines as text, for others; empty: it has none.
  default String timelines() {
    return "";
  }

  /// It is about to be closed: [#write] waits for no standby any more. Any thread.
  default void closing() {}

  /// Where it stands; null: it has no positions. Any thread.
  default @Nullable LogStatus status() {
    return null;
  }

  /// Any thread.
  default Activity activity() {
    return Activity.NONE;
  }

  /// Receives entries; the inputs, and the memory that they read, are valid during the call.
  interface EntryVisitor {
    void entry(NativeInput key, NativeInput value);
  }

  /// Receives entries; the buffers are direct and valid during the call.
  interface Visitor {
    void entry(ByteBuffer key, ByteBuffer value);
  }

  @Override
  void close();
}
