package dev.kakehashi.engine.sql.typing;

import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.algebra.LockedRows;
import dev.kakehashi.engine.sql.algebra.RecursiveRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.util.SqlBasicVisitor;
import org.jspecify.annotations.Nullable;

/// Queries of WITH whose rows are made once and kept, as PostgreSQL does with those that are named more than once. All others are bound
/// anew wherever they are named, so that conditions reach their tables; and so is one that only reads a table: its filter costs less than
/// keeping the rows.
public final class CommonTables {
  /// A query whose rows are kept.
  private record Kept(String name, int number, RelNode rel) {}

  private final List<Kept> kept = new ArrayList<>();
  private boolean allowed;

  /// From now on rows can be kept: the statement is a query, and none of its parts changes rows.
  public void allow() {
    allowed = true;
  }

  public boolean isAllowed() {
    return allowed;
  }

  /// Decides about a query.
  ///
  /// @param references places that name it
  /// @param bound the query, which does not depend on others around it
  /// @return what to read in each of these places, or null: it is bound anew there
  public @Nullable Integer keep(
      String name, int references, BoundQuery bound, BindContext context) {
    RelNode rel = bound.rel();
    if (!allowed || references < 2 || readsTable(rel) || isReadInParts(rel)) {
      return null;
    }
    int number = context.newWorkTable();
    kept.add(new Kept(name, number, rel));
    return number;
  }

  private static boolean readsTable(RelNode rel) {
    return switch (rel) {
      case TableScan scan -> true;
      case Filter filter ->
          RexUtil.isDeterministic(filter.getCondition())
              && RexUtil.SubQueryFinder.find(filter.getCondition()) == null
              && readsTable(filter.getInput());
      case Project project ->
          project.getProjects().stream().allMatch(RexUtil::isDeterministic)
              && RexUtil.SubQueryFinder.find(project.getProjects()) == null
              && !project.containsOver()
              && readsTable(project.getInput());
      default -> false;
    };
  }

  /// A recursion may have no end, and who names it a limit; locks are of the statement's own rows.
  private static boolean isReadInParts(RelNode rel) {
    return Inspection.any(rel, each -> each instanceof RecursiveRows || each instanceof LockedRows);
  }

  /// The plan with those of the kept queries before it.
  ///
  /// @param planning the way from algebra to a plan
  public PlanNode around(PlanNode body, Function<RelNode, PlanNode> planning) {
    PlanNode plan = body;
    for (Kept query : kept.reversed()) {
      PlanNode common = planning.apply(query.rel);
      plan = new PlanNode.With(common, query.name, query.number, plan);
    }
    return plan;
  }

  /// How often queries read from a table that is named without a schema.
  public static int references(String table, List<SqlNode> queries) {
    References references = new References(table);
    queries.forEach(query -> query.accept(references));
    return references.count;
  }

  private static final class References extends SqlBasicVisitor<@Nullable Void> {
    private static final Set<SqlKind> AROUND_TABLES =
        Set.of(SqlKind.AS, SqlKind.LATERAL, SqlKind.EXPLICIT_TABLE);

    private final String table;
    private int count;

    References(String table) {
      this.table = table;
    }

    @Override
    public @Nullable Void visit(SqlCall call) {
      if (call instanceof SqlSelect select) {
        SqlNode from = select.getFrom();
        for (SqlNode operand : select.getOperandList()) {
          if (operand != null && !operand.equals(from)) {
            operand.accept(this);
          }
        }
        from(from);
        return null;
      }
      if (call.getKind() == SqlKind.EXPLICIT_TABLE) {
        from(call);
        return null;
      }
      return super.visit(call);
    }

    private void from(@Nullable SqlNode node) {
      switch (node) {
        case null -> {}
        case SqlIdentifier name -> {
          if (name.isSimple() && name.getSimple().equals(table)) {
            count++;
          }
        }
        case SqlJoin join -> {
          from(join.getLeft());
          from(join.getRight());
          if (join.getCondition() != null) {
            join.getCondition().accept(this);
          }
        }
        case SqlCall call when AROUND_TABLES.contains(call.getKind()) -> from(call.operand(0));
        default -> node.accept(this);
      }
    }
  }
}
