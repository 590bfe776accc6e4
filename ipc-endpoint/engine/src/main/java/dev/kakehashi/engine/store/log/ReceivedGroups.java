package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Groups of a primary's log on their way into that of a standby: written as they come, and forced together.
///
/// Until they are forced nobody sees them: neither the end of the log, nor the base image, nor queues. A power loss may then leave a later
/// group and not an earlier one, so the mark of the log's end says that groups may be so. A segment is forced before the next one is
/// written to, so this concerns the last segment alone.
///
/// After a failure the log ends where it was forced, and the primary sends what follows again. Used by the thread that receives.
final class ReceivedGroups {
  /// Forced at the latest then: until the image has it, it is kept in memory.
  private static final long MOST_BYTES = 4 << 20;

  private final LogWriter writer;
  private final Checkpointer checkpointer;
  private final SideFiles sideFiles;
  private final @Nullable QueueSystem queues;
  private final ForcedListener listener;
  private final List<Received> written = new ArrayList<>();
  private long bytes;

  /// Whether a group is in the log, and not taken over.
  private boolean isHalfTaken;

  private record Received(LogRecord group, List<SideFile> files, long end) {}

  /// Is told what survives power loss.
  interface ForcedListener {
    /// @param end up to where
    /// @param groups that have been forced together
    void forced(long end, int groups);
  }

  /// @param queues null: there are none
  /// @param listener called before the base image gets the groups
  ReceivedGroups(
      LogWriter writer,
      Checkpointer checkpointer,
      SideFiles sideFiles,
      @Nullable QueueSystem queues,
      ForcedListener listener) {
    this.writer = writer;
    this.checkpointer = checkpointer;
    this.sideFiles = sideFiles;
    this.queues = queues;
    this.listener = listener;
  }

  /// Writes a group whose side files are there. It survives power loss after [#force], which this may call.
  ///
  /// @param end where it ends in the primary's log
  /// @throws EngineException DISK_FULL, IO_ERROR; DATA_CORRUPTED if it ends elsewhere here
  void add(LogRecord group, long end) {
    List<SideFile> files = group.sideFiles();
    checkpointer.awaitRoom();
    if (isHalfTaken) {
      // The same group comes again, and would be there twice.
      throw new EngineException(
              ErrorCode.IO_ERROR,
              "a group that the log has could not be taken over into the files of queues")
          .withHint("Start the standby again: it takes them over then.");
    }
    boolean done = false;
    try {
      if (!files.isEmpty()) {
        sideFiles.force();
      }
      writer.write(List.of(group));
      if (writer.end() != end) {
        throw LogReader.corrupted(
            "a group of the primary's log ends at byte %d, and here at byte %d"
                .formatted(end, writer.end()));
      }
      done = true;
    } catch (IOException e) {
      throw SegmentedLog.failure("could not write to the store's log", e);
    } finally {
      if (!done) {
        forget();
      }
    }
    written.add(new Received(group, files, end));
    bytes += group.length();
    if (bytes >= MOST_BYTES) {
      force();
    }
  }

  /// Forces all that has been written, and takes it over.
  ///
  /// @throws EngineException DISK_FULL, IO_ERROR
  void force() {
    if (written.isEmpty()) {
      return;
    }
    boolean done = false;
    try {
      writer.force();
      done = true;
    } catch (IOException e) {
      throw SegmentedLog.failure("could not write to the store's log", e);
    } finally {
      if (!done) {
        forget();
      }
    }
    List<Received> groups = List.copyOf(written);
    written.clear();
    bytes = 0;
    isHalfTaken = true;
    listener.forced(groups.getLast().end(), groups.size());
    groups.forEach(this::takeOver);
    isHalfTaken = false;
  }

  private void takeOver(Received received) {
    LogRecord group = received.group();
    received.files().forEach(file -> sideFiles.name(file, received.end()));
    if (group.hasQueueChanges()) {
      checkpointer.changeQueues(
          () -> group.forEachQueueChange(SegmentedLog.requireQueues(queues)::replay));
    }
    checkpointer.add(List.of(group), group.length(), received.end());
  }

  /// Takes back what is not forced, after a failure: the primary sends it again.
  private void forget() {
    written.clear();
    bytes = 0;
    writer.backTo(checkpointer.queuedEnd());
  }
}
