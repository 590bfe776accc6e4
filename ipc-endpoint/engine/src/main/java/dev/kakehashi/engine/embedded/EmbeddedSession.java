package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Planning;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.ddl.Definer;
import dev.kakehashi.engine.embedded.plans.StatementPlan;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.sql.statement.RoleSetting;
import dev.kakehashi.engine.sql.statement.SessionSetting;
import dev.kakehashi.engine.sql.statement.TransactionControl;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.type.RandomNumbers;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.valuetext.time.Zone;
import java.lang.ref.WeakReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Statements of one client.
final class EmbeddedSession implements EngineSession {
  private final EmbeddedEngine engine;
  private final String userName;
  private final String owner;
  private final SequenceAccess sequences;
  private final RandomNumbers random = new RandomNumbers();
  private final SessionValue<Zone> zone;

  /// Name of the role whose rights count: that of the user unless SET ROLE says otherwise.
  private final SessionValue<String> role;

  /// The last role that was looked up; any thread.
  private volatile Resolved resolved = new Resolved(null, "", RoleSet.NOBODY);

  /// @param roles in which it was looked up; null: in none
  private record Resolved(@Nullable RoleSet roles, String name, long id) {}

  /// Used by the thread that uses the session.
  private Viewer viewer;

  /// The transaction in which this session has changed the catalogue last: while it is open, statements are prepared as it sees the
  /// catalogue.
  private WeakReference<@Nullable ManagedTransaction> defining = new WeakReference<>(null);

  EmbeddedSession(
      EmbeddedEngine engine,
      String userName,
      String owner,
      SequenceAccess sequences,
      Zone timeZone) {
    this.engine = engine;
    this.userName = userName;
    this.owner = owner;
    this.sequences = sequences;
    this.zone = new SessionValue<>(timeZone);
    this.role = new SessionValue<>(userName);
    this.viewer = new Viewer(owner, userName, "", Viewer.Sight.ALL);
  }

  @Override
  public void viewer(Viewer newViewer) {
    viewer = newViewer;
  }

  /// For whom a statement runs that begins now. Where rights count, who has those of `pg_read_all_stats` sees all, and others what is of
  /// their user.
  Viewer viewer() {
    RoleSet roles = engine.catalogSnapshot().roles();
    if (!roles.isUsed()) {
      return viewer;
    }
    Seeing last = seeing;
    String name = role.current();
    if (last != null
        && last.roles.equals(roles)
        && last.given.equals(viewer)
        && last.name.equals(name)) {
      return last.viewer;
    }
    boolean all = roles.hasRightsOf(engine.roles().role(roles, name), RoleSet.READ_ALL_STATS);
    Viewer.Sight sight =
        all
            ? Viewer.Sight.ALL
            : viewer.sight() == Viewer.Sight.ALL ? Viewer.Sight.USER : viewer.sight();
    Viewer now = new Viewer(viewer.principal(), viewer.userName(), viewer.role(), sight);
    seeing = new Seeing(roles, viewer, name, now);
    return now;
  }

  /// Viewer that was found last, and its inputs.
  private record Seeing(RoleSet roles, Viewer given, String name, Viewer viewer) {}

  private @Nullable Seeing seeing;

  @Override
  public void prepare(
      EngineTransaction transaction, String globalId, Consumer<@Nullable EngineException> done) {
    ((ManagedTransaction) transaction).prepare(globalId, owner, userName, done);
  }

  @Override
  public void commitPrepared(
      String globalId,
      EngineTransaction.CommitResponse response,
      Consumer<@Nullable EngineException> done) {
    engine
        .prepared()
        .commit(globalId, owner, response == EngineTransaction.CommitResponse.STORED, done);
  }

  @Override
  public void rollbackPrepared(String globalId, Consumer<@Nullable EngineException> done) {
    engine.prepared().rollback(globalId, owner, done);
  }

  @Override
  public Planning prepare(
      String sql,
      int[] parameterTypeOids,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
    int[] given = parameterTypeOids.clone();
    CatalogSnapshot snapshot = catalogOfSession();
    Zone current = zone.current();
    StatementPlan cached = engine.plans().cached(sql, given, snapshot, current);
    long as = roleId(snapshot, roleName());
    if (cached != null) {
      EngineException refused = refusal(cached, snapshot, as);
      done.accept(
          refused == null ? new EmbeddedStatement(engine, this, sql, given, cached) : null,
          refused);
      return Planning.ENDED;
    }
    Plan plan = new Plan();
    try {
      engine
          .scheduler()
          .job(sql)
          .attachment(viewer())
          .submit(context -> {
            Runnable work =
                () ->
                    Interrupts.during(
                        plan, () -> planAndReport(sql, given, snapshot, current, as, done));
            try {
              plan.waits(engine.planning().plan(context, userName, work));
            } catch (EngineException stopping) {
              done.accept(null, stopping);
            }
            return null;
          });
      return plan;
    } catch (SchedulerStoppedException stopping) {
      done.accept(
          null,
          new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down", stopping));
      return Planning.ENDED;
    }
  }

  private @Nullable EngineException refusal(
      StatementPlan cached, CatalogSnapshot snapshot, long as) {
    try {
      engine.plans().allow(cached, snapshot, as);
      return null;
    } catch (EngineException refused) {
      return refused;
    }
  }

  /// One that is being made.
  private final class Plan implements Planning, Interrupts.Source {
    private volatile boolean canceled;
    private volatile @Nullable Runnable hasten; // written once, by the job

    /// @param itsHasten as of [dev.kakehashi.engine.txn.PlanningThreads#plan]
    void waits(@Nullable Runnable itsHasten) {
      hasten = itsHasten;
      if (canceled) {
        cancel(); // it has come between
      }
    }

    @Override
    public void cancel() {
      canceled = true;
      Runnable begin = hasten;
      if (begin != null) {
        begin.run();
      }
    }

    @Override
    public void checkCanceled() {
      engine.refuseWhenClosing();
      if (canceled) {
        throw new EngineException(
            ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
      }
    }
  }

  SequenceAccess sequences() {
    return sequences;
  }

  String userName() {
    return userName;
  }

  RandomNumbers random() {
    return random;
  }

  /// State of the session for statements that begin now.
  record State(Zone zone, Viewer viewer, String roleName) {}

  private @Nullable State state;

  /// The same object as long as nothing has changed: a statement allocates none.
  State state() {
    Zone itsZone = zone.current();
    Viewer itsViewer = viewer();
    String itsRole = role.current();
    State last = state;
    if (last != null
        && last.zone.equals(itsZone)
        && last.viewer.equals(itsViewer)
        && last.roleName.equals(itsRole)) {
      return last;
    }
    State now = new State(itsZone, itsViewer, itsRole);
    state = now;
    return now;
  }

  SessionValue<Zone> zone() {
    return zone;
  }

  /// Name of the role whose rights count for the statement that begins now.
  String roleName() {
    return role.current();
  }

  /// The number of a role of the session. From any thread.
  long roleId(CatalogSnapshot catalog, String name) {
    Resolved last = resolved;
    if (catalog.roles().equals(last.roles) && name.equals(last.name)) {
      return last.id;
    }
    long id = engine.roles().role(catalog.roles(), name);
    resolved = new Resolved(catalog.roles(), name, id);
    return id;
  }

  /// See [EmbeddedEngine#terminate].
  boolean terminateTransaction(long id, Viewer viewer, String roleName) {
    return engine.terminate(id, viewer, roleName);
  }

  /// Answers to functions about rights. Plans keep the object between executions: so it knows no session, transaction or statement. From
  /// any thread.
  CatalogQuestions questions(CatalogSnapshot catalog, long roleId) {
    CatalogQuestions last = questions;
    if (last != null && last.role() == roleId && last.catalog().equals(catalog)) {
      return last;
    }
    CatalogQuestions now =
        new CatalogQuestions(catalog, roleId, engine.surroundings().locationNames());
    questions = now;
    return now;
  }

  private volatile @Nullable CatalogQuestions questions;

  /// Does what a statement says of this session or its transaction.
  ///
  /// @param done called once, unless this throws
  void run(
      ManagedTransaction transaction,
      Prepared.OfSession statement,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    EngineException refused = null;
    switch (statement) {
      case TransactionControl control -> {
        control(transaction, control, failure -> done.accept(failure == null ? 0L : null, failure));
        return;
      }
      case SessionSetting setting -> zone.set(transaction, setting.zone(), setting.local());
      case RoleSetting setting -> {
        try {
          setRole(transaction, setting);
        } catch (EngineException mayNot) {
          refused = mayNot;
        }
      }
    }
    done.accept(refused == null ? 0L : null, refused);
  }

  /// SET ROLE.
  ///
  /// @throws EngineException INVALID_PARAMETER_VALUE, INSUFFICIENT_PRIVILEGE
  private void setRole(ManagedTransaction transaction, RoleSetting setting) {
    String name = setting.role();
    if (name != null) {
      RoleSet roles = transaction.catalog().roles();
      Role wanted = roles.role(name);
      if (wanted == null) {
        throw new EngineException(
            ErrorCode.INVALID_PARAMETER_VALUE, "role \"" + name + "\" does not exist");
      }
      if (!roles.isMemberOf(engine.roles().role(roles, userName), wanted.id())) {
        throw new EngineException(
            ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied to set role \"" + name + "\"");
      }
    }
    role.set(transaction, name, setting.local());
  }

  /// User who runs a DDL statement.
  ///
  /// @param name of the role whose rights count
  Definer definer(CatalogSnapshot catalog, String name) {
    EngineRoles roles = engine.roles();
    return new Definer(
        roleId(catalog, name),
        roles.role(catalog.roles(), userName),
        userName,
        roles.operator(),
        roles::names,
        engine.surroundings().locationNames());
  }

  void defines(ManagedTransaction transaction) {
    defining = new WeakReference<>(transaction);
  }

  private CatalogSnapshot catalogOfSession() {
    ManagedTransaction transaction = defining.get();
    return transaction == null ? engine.catalogSnapshot() : transaction.catalog();
  }

  private void planAndReport(
      String sql,
      int[] given,
      CatalogSnapshot snapshot,
      Zone current,
      long as,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
    EmbeddedStatement statement = null;
    EngineException failure = null;
    try {
      Interrupts.check();
      statement =
          new EmbeddedStatement(
              engine, this, sql, given, engine.plans().plan(sql, given, snapshot, current, as));
    } catch (Throwable failed) {
      failure = RunFailures.report(failed);
    }
    done.accept(statement, failure);
  }

  private void control(
      ManagedTransaction transaction,
      TransactionControl control,
      Consumer<@Nullable EngineException> done) {
    switch (control.verb()) {
      case PREPARE -> transaction.prepare(control.globalId(), owner, userName, done);
      case COMMIT_PREPARED -> engine.prepared().commit(control.globalId(), owner, true, done);
      case ROLLBACK_PREPARED -> engine.prepared().rollback(control.globalId(), owner, done);
    }
  }

  /// Holder of the leases that end with this session. From any thread.
  LeaseHolder leaseHolder() {
    synchronized (this) {
      LeaseHolder known = holder;
      if (known == null) {
        if (closed) {
          throw new EngineException(ErrorCode.CONNECTION_FAILURE, "the session has ended");
        }
        known = new SessionHolder();
        holder = known;
      }
      return known;
    }
  }

  private final class SessionHolder implements LeaseHolder {
    private final String name = "session of " + userName;

    @Override
    public String name() {
      return name;
    }

    @Override
    public void lost(LeaseToken token) {
      leaseListener.accept(token);
    }
  }

  private @Nullable LeaseHolder holder;
  private boolean closed;
  private volatile Consumer<LeaseToken> leaseListener = token -> {};

  @Override
  public void leaseListener(Consumer<LeaseToken> listener) {
    leaseListener = listener;
  }

  @Override
  public void close() {
    LeaseHolder ended;
    synchronized (this) {
      closed = true;
      ended = holder;
    }
    QueueSystem queues = engine.store().queues();
    if (ended != null && queues != null) {
      queues.endHolder(ended);
    }
  }
}
