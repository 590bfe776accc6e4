package dev.kakehashi.engine.sql.statement;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.catalog.Needs;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import java.util.List;

/// A statement that can be executed.
public sealed interface Prepared
    permits Prepared.Planned,
        Prepared.Measured,
        Prepared.Definition,
        TransactionControl,
        SessionSetting,
        RoleSetting,
        SetConstraints,
        Analyze {
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
    public Statement.Kind kind() {
      return Statement.Kind.DDL;
    }
  }
}
