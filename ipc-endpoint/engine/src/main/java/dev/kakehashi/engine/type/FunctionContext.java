package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.rights.RightsQuestions;
import dev.kakehashi.engine.type.application.ApplicationScalar;
import dev.kakehashi.engine.type.application.ApplicationUses;
import dev.kakehashi.engine.type.application.ScalarCalls;
import dev.kakehashi.engine.type.queue.QueueAccess;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.valuetext.time.Zone;
import java.util.IdentityHashMap;
import org.jspecify.annotations.Nullable;

/// Context that a function may use besides its arguments. Confined to one task at a time; used for one statement after another, see
/// [#begin].
public final class FunctionContext {
  /// Where by-reference results are allocated.
  public VarHeap heap;

  /// Set by a function whose result is null; the caller clears it before the call.
  public boolean resultIsNull;

  /// Nulls of a row of a function that returns rows: bit i says that column i is null. Set by the function; the caller clears it before the
  /// call.
  public long nullColumns;

  /// Microseconds since 2000-01-01 UTC at the statement's start.
  public long statementTimestamp;

  /// The same at the transaction's start.
  public long transactionTimestamp;

  /// The time zone of the session.
  public Zone zone;

  public SequenceAccess sequences;

  public QueueAccess queues;

  public RowIdentities identities;

  public RandomNumbers random;

  /// The role whose rights count.
  public String userName;

  /// The user of the engine that the session belongs to.
  public String sessionUserName;

  /// Questions that functions about rights ask.
  public RightsQuestions rights;

  /// For whom the statement runs.
  public Viewer viewer;

  private FunctionSession session;

  /// Code of applications that this execution has called; null: none.
  private @Nullable IdentityHashMap<ApplicationScalar, ScalarCalls> calls;

  /// Bit i says that argument i of a function that returns rows is null. Set by the caller.
  public long nullArguments;

  /// Calls of a function of an application.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException as [ApplicationUses#of]
  public ScalarCalls calls(ApplicationScalar function) {
    IdentityHashMap<ApplicationScalar, ScalarCalls> known = calls;
    if (known == null) {
      known = new IdentityHashMap<>(2);
      calls = known;
    }
    return known.computeIfAbsent(function, each -> ScalarCalls.of(each, applications()));
  }

  /// Code of applications as the statement uses it.
  public ApplicationUses applications() {
    return session.applications();
  }

  /// See [FunctionSession#terminateTransaction(long)].
  public boolean terminateTransaction(long id) {
    return session.terminateTransaction(id);
  }

  /// Files as the role may use them.
  public FileAccess files() {
    return session.files();
  }

  /// A context without a session.
  public FunctionContext(VarHeap heap, long statementTimestamp, long transactionTimestamp) {
    this(heap, statementTimestamp, transactionTimestamp, FunctionSession.NONE);
  }

  public FunctionContext(
      VarHeap heap, long statementTimestamp, long transactionTimestamp, FunctionSession session) {
    this.session = session;
    this.zone = session.zone();
    this.random = session.random();
    this.userName = session.userName();
    this.sessionUserName = session.sessionUserName();
    this.viewer = session.viewer();
    this.rights = session.rights();
    this.sequences = session.sequences();
    this.queues = session.queues();
    this.identities = session.identities();
    this.heap = heap;
    this.statementTimestamp = statementTimestamp;
    this.transactionTimestamp = transactionTimestamp;
  }

  /// Makes it the context of another execution: all is as in a new one. Values that functions have made for the execution before it may not
  /// be used any more.
  public void begin(
      VarHeap newHeap,
      long newStatementTimestamp,
      long newTransactionTimestamp,
      FunctionSession newSession) {
    session = newSession;
    calls = null;
    zone = session.zone();
    random = session.random();
    userName = session.userName();
    sessionUserName = session.sessionUserName();
    viewer = session.viewer();
    rights = session.rights();
    sequences = session.sequences();
    queues = session.queues();
    identities = session.identities();
    heap = newHeap;
    statementTimestamp = newStatementTimestamp;
    transactionTimestamp = newTransactionTimestamp;
    resultIsNull = false;
    nullColumns = 0;
  }

  /// Says that the result is null.
  ///
  /// @return the word to give back
  public long nullResult() {
    resultIsNull = true;
    return 0;
  }
}
