package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.RecursiveRows;
import dev.kakehashi.engine.sql.algebra.WorkTableRows;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.sql.typing.BoundQuery.Expectation;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlSetOperator;
import org.apache.calcite.sql.util.SqlBasicVisitor;
import org.jspecify.annotations.Nullable;

/// Binds a query of WITH RECURSIVE that names itself: `non-recursive term UNION [ALL] recursive term`.
final class RecursionBinder {
  private final BindContext context;
  private final QueryBinder queries;

  RecursionBinder(QueryBinder queries) {
    this.context = queries.context;
    this.queries = queries;
  }

  /// Whether a query names a table.
  static boolean names(SqlNode query, String table) {
    boolean[] found = {false};
    query.accept(
        new SqlBasicVisitor<@Nullable Void>() {
          @Override
          public @Nullable Void visit(SqlIdentifier identifier) {
            found[0] |= identifier.isSimple() && identifier.getSimple().equals(table);
            return null;
          }
        });
    return found[0];
  }

  /// Where a recursive term names its query: once, in FROM of itself.
  static void refuseMisplaced(
      Scope.CommonQuery table, Scope.Recursion recursion, SqlNode at, BindContext context) {
    String where = context.recursionBarrier;
    // It may be bound several times.
    int position = context.position(at);
    if (where == null && recursion.reference != 0 && recursion.reference != position) {
      where = "more than once";
    } else if (where != null) {
      where = "within " + where;
    }
    if (where != null) {
      throw context.error(
          ErrorCode.INVALID_RECURSION,
          "recursive reference to query \"" + table.name() + "\" must not appear " + where,
          at);
    }
    recursion.reference = position;
  }

  private void refuseTail(Scope.CommonQuery table) {
    if (table.query() instanceof SqlOrderBy tail && tail.query.getKind() == SqlKind.UNION) {
      String what =
          !tail.orderList.isEmpty() ? "ORDER BY" : tail.offset != null ? "OFFSET" : "LIMIT";
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          what + " in a recursive query is not implemented",
          table.query());
    }
  }

  BoundQuery bind(Scope.CommonQuery table, Scope.Recursion recursion) {
    refuseTail(table);
    if (table.query().getKind() != SqlKind.UNION
        || !(table.query() instanceof SqlBasicCall union)) {
      recursion.binding = true;
      try {
        queries.bind(table.query(), table.scope(), Expectation.NONE);
        throw error(table, "does not have the form non-recursive-term UNION [ALL] recursive-term");
      } finally {
        recursion.binding = false;
      }
    }
    BoundQuery first;
    recursion.binding = true;
    try {
      first = queries.bind(union.operand(0), table.scope(), Expectation.NONE);
    } finally {
      recursion.binding = false;
    }
    List<String> names = new ArrayList<>(first.names());
    for (int i = 0; i < Math.min(names.size(), table.columns().size()); i++) {
      names.set(i, table.columns().get(i));
    }
    int number = context.newWorkTable();
    PathColumns path =
        recursion.traversal == null
            ? null
            : new PathColumns(queries, table, recursion.traversal, names, first.types());
    BoundQuery anchor = path == null ? first : path.first(first);
    RelDataType rowType = nullable(anchor);
    RelNode work = new WorkTableRows(context.cluster, rowType, number);
    recursion.work = new BoundQuery(path == null ? work : path.followed(work), names);
    try {
      recursion.reference = 0;
      BoundQuery step =
          context.barring(
              null,
              () -> queries.bind(union.operand(1), table.scope(), Expectation.of(anchor.types())));
      boolean all = ((SqlSetOperator) union.getOperator()).isAll();
      if (path != null) {
        path.requirePassedOn(step);
      }
      RelNode converted = converted(table, anchor, step);
      if (path == null) {
        return new BoundQuery(
            new RecursiveRows(anchor.rel(), converted, all, number, rowType), names);
      }
      return path.shown(
          new RecursiveRows(anchor.rel(), path.next(converted), all, number, rowType));
    } finally {
      recursion.work = null;
    }
  }

  private RuntimeException error(Scope.CommonQuery table, String what) {
    return context.error(
        ErrorCode.INVALID_RECURSION,
        "recursive query \"" + table.name() + "\" " + what,
        table.query());
  }

  /// The type of the rows, with columns that may be null: those of later steps may be.
  private RelDataType nullable(BoundQuery anchor) {
    List<RelDataType> types = new ArrayList<>();
    for (SqlType type : anchor.types()) {
      types.add(context.types.of(type, true));
    }
    return context.types.createStructType(types, anchor.rel().getRowType().getFieldNames());
  }

  private RelNode converted(Scope.CommonQuery table, BoundQuery anchor, BoundQuery step) {
    if (step.names().size() != anchor.names().size()) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR,
          "each UNION query must have the same number of columns",
          table.query());
    }
    List<SqlType> types = anchor.types();
    for (int i = 0; i < types.size(); i++) {
      SqlType overall =
          queries.expressions.coercion.commonType(
              List.of(types.get(i), step.types().get(i)), "UNION", table.query());
      if (overall.oid() != types.get(i).oid()) {
        throw context.error(
            ErrorCode.DATATYPE_MISMATCH,
            "recursive query \""
                + table.name()
                + "\" column "
                + (i + 1)
                + " has type "
                + Types.name(types.get(i).oid())
                + " in non-recursive term but type "
                + Types.name(overall.oid())
                + " overall",
            table.query());
      }
    }
    return queries.convertColumns(step, types, "UNION", table.query());
  }
}
