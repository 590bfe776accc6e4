package dev.kakehashi.engine.api.queue;

import dev.kakehashi.engine.api.error.EngineException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Durable queues: tasks in files of their own, in the order of commits; leases and order in memory. Thread-safe.
///
/// Life: opened on its directory, [#replay] for what the log has beyond [#force], [#recovered] for prepared transactions, [#start]; then
/// everything else; [#close].
///
/// The files are an image of the log, as the rows' base image is: what is not forced is replayed. Changes set states and positions, so
/// applying them twice does no harm.
public interface QueueSystem extends AutoCloseable {
  // ---- for the store ----

  /// Applies changes of the log, in its order; before [#start].
  ///
  /// @param bytes what [QueueChanges#place] completed, at `offset`
  /// @throws EngineException DATA_CORRUPTED, DISK_FULL, IO_ERROR
  void replay(byte[] bytes, int offset, int length);

  /// Changes of a transaction that was prepared by an earlier run: prepared for its commit. Before [#start].
  ///
  /// @param bytes what [QueueChanges#encode] wrote
  QueueChanges recovered(byte[] bytes, int offset, int length);

  /// All records up to this number survive power loss: their tasks may be handed out. Called in order, by the thread that flushes; takes
  /// microseconds, never fails.
  void durable(long record);

  /// Makes the files survive power loss, with all that is durable in the log by now. Blocks; one thread at a time.
  ///
  /// @throws EngineException DISK_FULL, IO_ERROR: tried again later
  void force();

  /// Files for a backup, relative to the system's directory, after [#force]. None of them goes until [#releaseFiles()]; they may grow and
  /// change meanwhile: the log is replayed over the copy.
  List<Path> holdFiles();

  void releaseFiles();

  // ---- life ----

  /// Recovery has ended. Leases of earlier incarnations are gone.
  void start(QueueHost host, List<QueueDefinition> queues);

  /// The committed catalogue has these queues from now on; called in the order of commits, on the thread that commits. Never fails.
  void define(List<QueueDefinition> queues);

  // ---- transactions ----

  QueueChanges newChanges();

  // ---- consumers ----

  /// Takes tasks for a consumer, or waits for some. The claim is durable before the consumer is told, so no crash takes an attempt back.
  ///
  /// @param listener called once, perhaps within the call, on any thread; must not block
  Waiting receive(ReceiveRequest request, Listener listener);

  /// A consumer's call that is under way.
  interface Waiting {
    /// The consumer has gone: the listener is called with nothing, unless it was called before. Tasks that were taken for it are given
    /// back.
    void cancel();
  }

  /// How a call ends.
  interface Listener {
    /// @param tasks empty: none came in time, the queue was dropped, or the call was canceled
    void received(List<LeasedTask> tasks);

    /// @param reason LEASE_LOST of a completed one, a failure of the log, SHUTTING_DOWN
    void failed(EngineException reason);
  }

  /// Lends tasks for longer, from now on.
  ///
  /// @param leaseMillis 0: the queue's
  /// @return the lease's new end, milliseconds since 1970
  /// @throws EngineException LEASE_LOST
  long extend(LeaseToken token, long leaseMillis);

  /// Gives back all leases of a holder and cancels its calls, at once: it has gone. The attempts count.
  void endHolder(LeaseHolder holder);

  /// The queue that a token is of; null: the queue is gone. For the check of rights.
  @Nullable Long queueOf(LeaseToken token);

  // ---- operators ----

  /// States of all groups of all queues.
  List<QueueState> states();

  /// Visits tasks that are neither done nor canceled, in the order of their positions; a queue's file is read once.
  ///
  /// @param visitor returns false to end
  void tasks(long queueId, TaskVisitor visitor);

  /// Receives tasks.
  @FunctionalInterface
  interface TaskVisitor {
    boolean task(TaskView task);
  }

  /// Visits what is lent.
  void leases(Consumer<TaskView> visitor);

  /// Compares files, counts and order with each other.
  ///
  /// @param problem gets a line for each finding
  void check(Consumer<String> problem);

  /// Ends all calls with SHUTTING_DOWN and all leases, applies and forces what is durable, closes the files.
  @Override
  void close();
}
