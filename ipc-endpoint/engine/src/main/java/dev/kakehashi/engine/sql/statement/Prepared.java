package dev.kakehashi.engine.sql.statement;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.bulk.DumpRequest;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadRequest;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Needs;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.LoadPlan;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.plan.TouchedTables;
import dev.kakehashi.engine.sql.parser.ApplicationStatement;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;
import java.util.List;

/// A statement that can be executed.
///
/// Its properties say where it may run and what it needs; the engine makes its task.
public sealed interface Prepared
    permits Prepared.Planned,
        Prepared.Dump,
        Prepared.Measured,
        Prepared.Definition,
        Prepared.Load,
        Prepared.Call,
        Prepared.OfSession,
        SetConstraints,
        Analyze,
        AlterSystem {
  long[] NO_TABLES = {};

  Statement.Kind kind();

  default int[] parameterOids() {
    return new int[0];
  }

  default List<Statement.Column> columns() {
    return List.of();
  }

  /// Privileges that its user needs, as far as they are known before it runs.
  default Needs needs() {
    return Needs.NONE;
  }

  /// Where it may run.
  default Place place() {
    return Place.ANYWHERE;
  }

  /// Why it may not run in a transaction that [Place#allows] refuses.
  default EngineException misplaced() {
    throw new IllegalStateException("it may run anywhere");
  }

  /// Tables that it uses, by number, each once: they are locked before it runs.
  default long[] tables() {
    return NO_TABLES;
  }

  /// Tables that it reads and changes.
  default TouchedTables touched() {
    return TouchedTables.NONE;
  }

  /// Whether it may be executed again while the catalogue is the same.
  default boolean reusable() {
    return false;
  }

  /// Whether it is of the time zone that it was made with, as far as is known.
  default boolean zoned() {
    return true;
  }

  /// Whether it locks or changes rows, or what else belongs to its transaction.
  ///
  /// @param readOnly whether the transaction is
  default boolean changesRows(boolean readOnly) {
    return false;
  }

  /// Where a statement may run.
  enum Place {
    /// In any transaction and any call.
    ANYWHERE,
    /// Where others can follow in its transaction.
    IN_BLOCK,
    /// In a transaction of this statement alone, or in a call, beside its transaction.
    BESIDE_CALL,
    /// In a transaction of this statement alone.
    ALONE,
    /// The session does it at once, without the transaction's turn.
    SESSION;

    /// Whether it may run in a transaction that a client has.
    ///
    /// @param ofOneStatement whether that ends with the statement
    public boolean allows(boolean ofOneStatement) {
      return switch (this) {
        case ANYWHERE, SESSION -> true;
        case IN_BLOCK -> !ofOneStatement;
        case BESIDE_CALL, ALONE -> ofOneStatement;
      };
    }

    /// Whether a call may run it.
    public boolean allowsCall() {
      return switch (this) {
        case ANYWHERE, IN_BLOCK, BESIDE_CALL -> true;
        case ALONE, SESSION -> false;
      };
    }
  }

  /// About the session or its transaction.
  sealed interface OfSession extends Prepared
      permits TransactionControl, SessionSetting, RoleSetting {
    @Override
    default Place place() {
      return Place.SESSION;
    }
  }

  /// A statement with a plan.
  ///
  /// @param reusable whether the plan may be executed again while the catalogue is the same
  /// @param zoned whether the plan is of the time zone that it was made with
  /// @param tables numbers of the tables that it uses, each once
  /// @param needs what its user must be allowed to do
  record Planned(
      Statement.Kind kind,
      PhysicalPlan plan,
      int[] parameterOids,
      List<Statement.Column> columns,
      boolean reusable,
      boolean zoned,
      PlanEstimates estimates,
      long[] tables,
      Needs needs)
      implements Prepared {
    @Override
    public TouchedTables touched() {
      return TouchedTables.of(plan);
    }

    @Override
    public boolean changesRows(boolean readOnly) {
      return plan.changesRows();
    }
  }

  /// COPY TO.
  ///
  /// @param query gives the rows
  /// @param loadColumns what the rows have, for the files
  /// @param text of the table or query
  /// @param toClient whether the client gets the bytes
  record Dump(
      Planned query,
      DumpRequest request,
      List<LoadColumn> loadColumns,
      String text,
      boolean toClient)
      implements Prepared {
    private static final List<Statement.Column> FILES =
        List.of(
            new Statement.Column("file", TypeOid.TEXT, -1),
            new Statement.Column("rows", TypeOid.INT8, -1),
            new Statement.Column("bytes", TypeOid.INT8, -1),
            new Statement.Column("digest", TypeOid.TEXT, -1));

    private static final List<Statement.Column> DATA =
        List.of(new Statement.Column("data", TypeOid.BYTEA, -1));

    @Override
    public Statement.Kind kind() {
      return Statement.Kind.QUERY;
    }

    @Override
    public int[] parameterOids() {
      return query.parameterOids();
    }

    @Override
    public List<Statement.Column> columns() {
      return toClient ? DATA : FILES;
    }

    @Override
    public Needs needs() {
      return query.needs();
    }

    @Override
    public long[] tables() {
      return query.tables();
    }

    @Override
    public TouchedTables touched() {
      return query.touched();
    }
  }

  /// EXPLAIN ANALYZE of a statement.
  record Measured(Planned statement, PlanRunner.Report report, List<Statement.Column> columns)
      implements Prepared {
    @Override
    public Statement.Kind kind() {
      return statement.kind();
    }

    @Override
    public int[] parameterOids() {
      return statement.parameterOids();
    }

    @Override
    public Needs needs() {
      return statement.needs();
    }

    @Override
    public long[] tables() {
      return statement.tables();
    }

    @Override
    public TouchedTables touched() {
      return statement.touched();
    }

    @Override
    public boolean changesRows(boolean readOnly) {
      return statement.changesRows(readOnly);
    }
  }

  /// DDL.
  record Definition(DdlStatement statement) implements Prepared {
    @Override
    public int[] parameterOids() {
      int count =
          statement instanceof DdlStatement.OfApplication about
              ? ApplicationStatement.parameters(about.statement())
              : 0;
      int[] oids = new int[count];
      Arrays.fill(oids, TypeOid.BYTEA);
      return oids;
    }

    @Override
    public Statement.Kind kind() {
      return Statement.Kind.DDL;
    }
  }

  /// COPY ... FROM.
  ///
  /// @param request what is said of the files, checked
  /// @param columns of the row that says what was loaded
  /// @param tables numbers of the tables that it uses, each once
  record Load(
      LoadPlan plan,
      LoadRequest request,
      List<Statement.Column> columns,
      boolean zoned,
      long[] tables,
      Needs needs)
      implements Prepared {
    /// Columns of the row that a load gives.
    public static final List<Statement.Column> COLUMNS =
        List.of(
            new Statement.Column("rows_read", TypeOid.INT8, -1),
            new Statement.Column("rows_loaded", TypeOid.INT8, -1),
            new Statement.Column("rows_rejected", TypeOid.INT8, -1),
            new Statement.Column("rows_filtered", TypeOid.INT8, -1),
            new Statement.Column("reject_file", TypeOid.TEXT, -1),
            new Statement.Column("load_id", TypeOid.TEXT, -1));

    @Override
    public Statement.Kind kind() {
      return Statement.Kind.DML;
    }

    @Override
    public Place place() {
      return isInBatches() ? Place.ALONE : Place.ANYWHERE;
    }

    @Override
    public EngineException misplaced() {
      return new EngineException(
          ErrorCode.ACTIVE_TRANSACTION,
          "COPY with batch_rows cannot run inside a transaction block");
    }

    @Override
    public TouchedTables touched() {
      return TouchedTables.of(plan.insert());
    }

    @Override
    public boolean changesRows(boolean readOnly) {
      return !isInBatches();
    }

    /// Whether it commits by itself, again and again.
    public boolean isInBatches() {
      return request.control().batchRows() > 0;
    }
  }

  /// CALL.
  ///
  /// @param route whether `index` is one of a route
  /// @param index of the procedures, or of the routes
  /// @param arguments of the types of the parameters; expressions without columns
  /// @param columns of the rows that it gives
  /// @param tables numbers of what it uses, each once
  record Call(
      ApplicationDefinition application,
      boolean route,
      int index,
      ProcedureSignature signature,
      List<Expr> arguments,
      int[] parameterOids,
      List<Statement.Column> columns,
      boolean zoned,
      long[] tables,
      Needs needs)
      implements Prepared {
    @Override
    public Statement.Kind kind() {
      return Statement.Kind.DML;
    }

    @Override
    public Place place() {
      return signature.transaction() == CallTransaction.OWN ? Place.BESIDE_CALL : Place.ANYWHERE;
    }

    @Override
    public EngineException misplaced() {
      return new EngineException(
          ErrorCode.ACTIVE_TRANSACTION,
          "procedure "
              + signature.name()
              + " has transactions of its own, and cannot run inside a transaction block");
    }

    @Override
    public boolean reusable() {
      return true;
    }

    /// A read-only transaction may call it; what its code changes is refused then.
    @Override
    public boolean changesRows(boolean readOnly) {
      return takesPart() && !readOnly;
    }

    /// Whether what it does belongs to the transaction that it runs in.
    public boolean takesPart() {
      return signature.transaction() == CallTransaction.REQUIRED;
    }
  }
}
