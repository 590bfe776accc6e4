package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.messages.BeginDecoder;
import dev.kakehashi.protocol.messages.BeginTransactionDecoder;
import dev.kakehashi.protocol.messages.CommitDecoder;
import dev.kakehashi.protocol.messages.CommitPreparedDecoder;
import dev.kakehashi.protocol.messages.ContinueTransactionDecoder;
import dev.kakehashi.protocol.messages.ExportTransactionDecoder;
import dev.kakehashi.protocol.messages.PrepareTransactionDecoder;
import dev.kakehashi.protocol.messages.QueryOutcomeDecoder;
import dev.kakehashi.protocol.messages.ReleaseSavepointDecoder;
import dev.kakehashi.protocol.messages.RollbackDecoder;
import dev.kakehashi.protocol.messages.RollbackPreparedDecoder;
import dev.kakehashi.protocol.messages.RollbackToSavepointDecoder;
import dev.kakehashi.protocol.messages.SavepointDecoder;
import dev.kakehashi.requests.OpenTransaction;
import dev.kakehashi.requests.RequestCore;
import dev.kakehashi.requests.Transactions;
import dev.kakehashi.requests.TwoPhaseCommits;
import java.util.Map;
import org.agrona.DirectBuffer;

/// Requests about transactions. Poller only.
final class TransactionFrames {
  private final RequestCore core;
  private final Transactions transactions;
  private final TwoPhaseCommits twoPhase;

  // Flyweights of the poller.
  private final CommitDecoder commit = new CommitDecoder();
  private final RollbackDecoder rollback = new RollbackDecoder();

  TransactionFrames(RequestCore core) {
    this.core = core;
    this.transactions = core.transactions();
    this.twoPhase = core.twoPhase();
  }

  /// By template.
  Map<Integer, FrameHandler> handlers() {
    return Map.ofEntries(
        Map.entry(BeginDecoder.TEMPLATE_ID, this::begin),
        Map.entry(BeginTransactionDecoder.TEMPLATE_ID, this::beginTransaction),
        Map.entry(CommitDecoder.TEMPLATE_ID, this::commit),
        Map.entry(RollbackDecoder.TEMPLATE_ID, this::rollback),
        Map.entry(SavepointDecoder.TEMPLATE_ID, this::savepoint),
        Map.entry(ReleaseSavepointDecoder.TEMPLATE_ID, this::releaseSavepoint),
        Map.entry(RollbackToSavepointDecoder.TEMPLATE_ID, this::rollbackToSavepoint),
        Map.entry(PrepareTransactionDecoder.TEMPLATE_ID, this::prepareTransaction),
        Map.entry(CommitPreparedDecoder.TEMPLATE_ID, this::commitPrepared),
        Map.entry(RollbackPreparedDecoder.TEMPLATE_ID, this::rollbackPrepared),
        Map.entry(QueryOutcomeDecoder.TEMPLATE_ID, this::queryOutcome),
        Map.entry(ExportTransactionDecoder.TEMPLATE_ID, this::exportTransaction),
        Map.entry(ContinueTransactionDecoder.TEMPLATE_ID, this::continueTransaction));
  }

  private void begin(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    BeginDecoder begin = Frames.wrap(new BeginDecoder(), frame);
    BeginOptions options =
        FrameOptions.options(begin.kind(), begin.isolation(), Frames.nextText(begin, frame));
    response.completed(transactions.begin(session.requests(), options, begin.leaseNanos()), 0);
  }

  private void beginTransaction(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    BeginTransactionDecoder begin = Frames.wrap(new BeginTransactionDecoder(), frame);
    BeginOptions options = FrameOptions.options(begin, frame);
    response.completed(transactions.begin(session.requests(), options, begin.leaseNanos()), 0);
  }

  void commit(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    Frames.wrap(commit, frame);
    EngineTransaction.CommitResponse when = FrameOptions.response(commit.response());
    transactions.commit(session.requests(), response, commit.transactionHandle(), when);
  }

  private void rollback(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    long handle = Frames.wrap(rollback, frame).transactionHandle();
    transactions.rollback(session.requests(), response, handle);
  }

  private void savepoint(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    SavepointDecoder savepoint = Frames.wrap(new SavepointDecoder(), frame);
    transactions.savepoint(
        session.requests(), response, savepoint.transactionHandle(), level(savepoint.level()));
  }

  private void releaseSavepoint(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    ReleaseSavepointDecoder release = Frames.wrap(new ReleaseSavepointDecoder(), frame);
    transactions.releaseSavepoint(
        session.requests(), response, release.transactionHandle(), level(release.level()));
  }

  private void rollbackToSavepoint(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    RollbackToSavepointDecoder back = Frames.wrap(new RollbackToSavepointDecoder(), frame);
    transactions.rollbackToSavepoint(
        session.requests(), response, back.transactionHandle(), level(back.level()));
  }

  private static int level(long level) {
    if (level < 1 || level > Integer.MAX_VALUE) {
      throw new EngineException(
          ErrorCode.NO_SUCH_SAVEPOINT, "savepoint level " + level + " does not exist");
    }
    return (int) level;
  }

  private void prepareTransaction(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    PrepareTransactionDecoder prepare = Frames.wrap(new PrepareTransactionDecoder(), frame);
    transactions.prepare(
        session.requests(), response, prepare.transactionHandle(), Frames.nextText(prepare, frame));
  }

  private void commitPrepared(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    CommitPreparedDecoder second = Frames.wrap(new CommitPreparedDecoder(), frame);
    EngineTransaction.CommitResponse when = FrameOptions.response(second.response());
    twoPhase.commit(session.requests(), response, Frames.nextText(second, frame), when);
  }

  private void rollbackPrepared(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    RollbackPreparedDecoder second = Frames.wrap(new RollbackPreparedDecoder(), frame);
    twoPhase.rollback(session.requests(), response, Frames.nextText(second, frame));
  }

  private void queryOutcome(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    long handle = Frames.wrap(new QueryOutcomeDecoder(), frame).transactionHandle();
    transactions.outcome(session.requests(), response, handle);
  }

  private void exportTransaction(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    long handle = Frames.wrap(new ExportTransactionDecoder(), frame).transactionHandle();
    OpenTransaction transaction = transactions.use(session.requests(), handle);
    response.token(transaction, core.token(session.requests(), transaction));
  }

  private void continueTransaction(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    ContinueTransactionDecoder join = Frames.wrap(new ContinueTransactionDecoder(), frame);
    response.completed(core.join(session.requests(), Frames.nextText(join, frame)), 0);
  }
}
