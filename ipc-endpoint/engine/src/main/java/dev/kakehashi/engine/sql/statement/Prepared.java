package dev.kakehashi.engine.sql.statement;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.bulk.DumpRequest;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadRequest;
import dev.kakehashi.engine.catalog.Needs;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.LoadPlan;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.sql.parser.ApplicationStatement;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;
import java.util.List;

/// A statement that can be executed.
public sealed interface Prepared
    permits Prepared.Planned,
        Prepared.Dump,
        Prepared.Measured,
        Prepared.Definition,
        Prepared.Load,
        Prepared.Call,
        TransactionControl,
        SessionSetting,
        RoleSetting,
        SetConstraints,
        Analyze,
        AlterSystem {
  Statement.Kind kind();

  default int[] parameterOids() {
    return new int[0];
  }

  default List<Statement.Column> columns() {
    return List.of();
  }

  /// What its user must be allowed to do, as far as that is known before it runs.
  default Needs needs() {
    return Needs.NONE;
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
    /// Whether an execution locks or changes rows.
    public boolean changesRows() {
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

    /// Whether what it does belongs to the transaction that it runs in.
    public boolean takesPart() {
      return signature.transaction() == CallTransaction.REQUIRED;
    }
  }
}
