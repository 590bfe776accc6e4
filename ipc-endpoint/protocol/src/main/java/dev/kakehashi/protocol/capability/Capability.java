package dev.kakehashi.protocol.capability;

/// Something that an engine may be able to do. The numbers are those of the bits in the protocol: new ones come last.
///
/// An absent capability is refused with FEATURE_NOT_SUPPORTED, which names the engine and the capability, or the client does the work
/// itself with the same result. A request never means something else.
public enum Capability {
  /// READ COMMITTED: a snapshot for each statement that asks for one.
  READ_COMMITTED(0, "transactions of isolation level READ COMMITTED"),
  /// REPEATABLE READ: one snapshot for the transaction.
  REPEATABLE_READ(1, "transactions of isolation level REPEATABLE READ"),
  /// SERIALIZABLE, in truth: what commits could have run one after another.
  SERIALIZABLE(2, "transactions of isolation level SERIALIZABLE"),
  /// Read-only transactions with one snapshot, that never fail because of others (`RTX`).
  READ_ONLY_TRANSACTIONS(3, "read-only transactions"),
  /// Long transactions with declared tables (`LTX`).
  LONG_TRANSACTIONS(4, "long transactions"),
  /// READ ONLY DEFERRABLE: the snapshot is one with which the transaction makes no other one fail.
  SAFE_SNAPSHOTS(5, "DEFERRABLE transactions"),
  /// Savepoints that nest.
  SAVEPOINTS(6, "savepoints"),
  /// A statement sees of its own transaction what lesser commands have changed, and no more (`Execute.command`). Without it a client reads
  /// all rows of a statement before it changes something.
  COMMANDS(7, "commands within a transaction"),
  /// Several sessions may work in one transaction.
  SHARED_TRANSACTIONS(8, "transactions of several sessions"),
  /// Two phases: a prepared transaction survives a restart.
  TWO_PHASE(9, "two-phase commit"),
  /// Others can see a commit before it survives power loss. Without it every commit is stored when it is available, and nobody waits for
  /// more.
  UNDURABLE_READS(10, "commits that are available before they are stored"),
  /// FOR UPDATE and its relatives wait for each other and for changes, until the end of their transactions.
  ROW_LOCKS(11, "row locks"),
  /// FOR UPDATE NOWAIT.
  NOWAIT(12, "NOWAIT"),
  /// FOR UPDATE SKIP LOCKED.
  SKIP_LOCKED(13, "SKIP LOCKED"),
  /// INSERT, UPDATE and DELETE.
  CHANGES(14, "changes of rows"),
  /// An UPDATE or DELETE by conditions over one table or several, in one statement. Without it rows are changed one by one by their keys.
  DIRECT_CHANGES(15, "changes of rows by conditions"),
  /// RETURNING.
  RETURNING(16, "RETURNING"),
  /// ON CONFLICT.
  ON_CONFLICT(17, "ON CONFLICT"),
  /// TRUNCATE.
  TRUNCATE(18, "TRUNCATE"),
  /// Each row has an identity that lasts until it is changed, so that tables without a key can be changed row by row.
  ROW_IDENTITY(19, "changes of rows that have no key"),
  /// Definitions of tables and so on.
  DDL(20, "definitions"),
  /// Definitions in a transaction with others, taken back with it.
  DDL_IN_TRANSACTION(21, "definitions in a transaction block"),
  /// Constraints that are checked at the end of the transaction.
  DEFERRABLE_CONSTRAINTS(22, "deferrable constraints"),
  /// The tables of `kakehashi_catalog` that describe tables, columns and keys.
  CATALOGUE(23, "catalogue"),
  /// The tables of `kakehashi_catalog` that have its statistics.
  STATISTICS(24, "statistics"),
  /// The rows of one result may be drawn by several processes.
  PARALLEL_SCAN(25, "results for several processes"),
  /// COPY from and to files of the endpoint, loads and dumps.
  COPY_FILES(26, "COPY of files"),
  /// Queues of tasks.
  QUEUES(27, "queues"),
  /// Native applications.
  APPLICATIONS(28, "applications"),
  /// Roles and rights.
  ROLES(29, "roles"),
  /// Backups by the endpoint.
  BACKUP(30, "backups by the endpoint"),
  /// It shows its definitions as statements.
  DEFINITIONS(31, "list of its definitions"),
  /// The tables of `kakehashi_catalog` that show what goes on: sessions, transactions, prepared ones, waits, jobs.
  ACTIVITY(32, "tables of what goes on in it");

  private final int number;
  private final String title;

  Capability(int number, String title) {
    this.number = number;
    this.title = title;
  }

  /// Words for the capability that is lacking: they follow "has no".
  public String title() {
    return title;
  }

  /// Its bit.
  long bit() {
    return 1L << number;
  }
}
