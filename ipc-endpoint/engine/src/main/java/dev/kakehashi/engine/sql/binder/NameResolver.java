package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLocalRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.util.SqlBasicVisitor;
import org.jspecify.annotations.Nullable;

/// Finds the column that a name means, in the scope or in one around it.
final class NameResolver {
  private final BindContext context;

  NameResolver(BindContext context) {
    this.context = context;
  }

  RexNode column(SqlIdentifier identifier, Scope start) {
    List<String> names = identifier.names;
    if (identifier.isStar()) {
      throw context.error(ErrorCode.SYNTAX_ERROR, "syntax error at or near \"*\"", identifier);
    }
    String name = names.getLast();
    String alias = names.size() > 1 ? names.get(names.size() - 2) : null;
    String schema = names.size() > 2 ? names.get(names.size() - 3) : null;
    boolean aliasKnown = false;
    for (Scope scope = start; scope != null; scope = scope.parent) {
      List<Scope.Field> found = new ArrayList<>();
      for (Scope.Field field : scope.fields) {
        if (matches(field, schema, alias, name)) {
          found.add(field);
        }
      }
      if (found.isEmpty() && alias == null) {
        for (Scope.Field field : scope.fields) {
          if (field.row() && name.equals(field.alias())) {
            found.add(field);
          }
        }
      }
      if (found.size() > 1) {
        throw context.error(
            ErrorCode.AMBIGUOUS_COLUMN,
            "column reference \"" + name + "\" is ambiguous",
            identifier);
      }
      if (found.size() == 1) {
        found.getFirst().markRead();
        return scope == start ? found.getFirst().expression() : outer(found.getFirst(), scope);
      }
      aliasKnown |= alias != null && scope.hasAlias(alias);
    }
    if (Column.isSystemName(name)) {
      refuseSystem(name, start.clause().name(), identifier);
    }
    if (alias == null) {
      throw context.error(
          ErrorCode.UNDEFINED_COLUMN, "column \"" + name + "\" does not exist", identifier);
    }
    throw aliasKnown
        ? context.error(
            ErrorCode.UNDEFINED_COLUMN,
            "column " + alias + "." + name + " does not exist",
            identifier)
        : context.error(
            ErrorCode.UNDEFINED_TABLE,
            "missing FROM-clause entry for table \"" + alias + "\"",
            identifier);
  }

  /// Refuses PostgreSQL's system columns where an expression of a table is bound.
  private void refuseSystem(String name, String clause, SqlNode at) {
    String refusal =
        switch (clause) {
          case "check constraints" ->
              "system column \"%s\" reference in check constraint is invalid".formatted(name);
          case "column generation expressions" ->
              "cannot use system column \"%s\" in column generation expression".formatted(name);
          default -> null;
        };
    if (refusal != null) {
      throw context.error(
          // PostgreSQL takes this one.
          name.equals("tableoid")
              ? ErrorCode.FEATURE_NOT_SUPPORTED
              : ErrorCode.INVALID_COLUMN_REFERENCE,
          refusal,
          at);
    }
    if (clause.startsWith("index ")) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED, "index creation on system columns is not supported", at);
    }
  }

  /// The columns of a table of FROM that a name means; null if it means something else.
  RecordBinder.@Nullable Row row(String name, Scope start) {
    for (Scope scope = start; scope != null; scope = scope.parent) {
      if (scope.fields.stream()
          .anyMatch(field ->
              matches(field, null, null, name) || (field.row() && name.equals(field.alias())))) {
        return null;
      }
    }
    return table(name, start);
  }

  /// The columns of a table of FROM; null if there is none of this name.
  private RecordBinder.@Nullable Row table(String name, Scope start) {
    for (Scope scope = start; scope != null; scope = scope.parent) {
      if (scope.hasAlias(name)) {
        List<RexNode> entries = new ArrayList<>();
        List<String> names = new ArrayList<>();
        boolean optional = false;
        for (Scope.Field field : scope.fields) {
          if (name.equals(field.alias()) && !field.hidden() && !field.system()) {
            entries.add(scope == start ? field.expression() : outer(field, scope));
            names.add(field.name());
            field.markRead();
            optional |= field.optional();
          }
        }
        return new RecordBinder.Row(entries, names, optional);
      }
    }
    return null;
  }

  /// The row that `alias.*` means.
  RecordBinder.Row row(SqlIdentifier star, Scope scope) {
    String alias = star.names.get(star.names.size() - 2);
    RecordBinder.Row row = table(alias, scope);
    if (row == null) {
      throw context.error(
          ErrorCode.UNDEFINED_TABLE, "missing FROM-clause entry for table \"" + alias + "\"", star);
    }
    return row;
  }

  private static boolean matches(
      Scope.Field field, @Nullable String schema, @Nullable String alias, String name) {
    if (!field.name().equals(name)) {
      return false;
    }
    if (alias == null) {
      return !field.merged();
    }
    return alias.equals(field.alias()) && (schema == null || schema.equals(field.schema()));
  }

  /// The query that an aggregate belongs to: the innermost one of those whose columns its arguments name, as PostgreSQL's
  /// `check_agglevels_and_constraints`; the scope's own if they name none. One with a subquery in its arguments is taken to be of the
  /// scope's own query.
  Scope ownerOfAggregate(SqlNode aggregate, Scope start) {
    int[] levels = {Integer.MAX_VALUE};
    aggregate.accept(
        new SqlBasicVisitor<@Nullable Void>() {
          @Override
          public @Nullable Void visit(SqlIdentifier identifier) {
            int level = level(identifier, start);
            levels[0] = Math.min(levels[0], level < 0 ? Integer.MAX_VALUE : level);
            return null;
          }

          @Override
          public @Nullable Void visit(SqlCall call) {
            if (call.isA(SqlKind.QUERY)) {
              levels[0] = 0;
              return null;
            }
            return super.visit(call);
          }
        });
    Scope owner = start;
    for (int i = levels[0] == Integer.MAX_VALUE ? 0 : levels[0]; i > 0; i--) {
      owner = Objects.requireNonNull(owner.parent);
    }
    return owner;
  }

  /// How many queries further out the column or table is that a name means; -1 if there is none.
  private static int level(SqlIdentifier identifier, Scope start) {
    List<String> names = identifier.names;
    int last = names.size() - (identifier.isStar() ? 2 : 1);
    if (last < 0) {
      return -1;
    }
    String name = names.get(last);
    String alias = last > 0 ? names.get(last - 1) : null;
    String schema = last > 1 ? names.get(last - 2) : null;
    int level = 0;
    for (Scope scope = start; scope != null && !identifier.isStar(); scope = scope.parent) {
      if (scope.fields.stream()
          .anyMatch(field ->
              matches(field, schema, alias, name)
                  || (alias == null && field.row() && name.equals(field.alias())))) {
        return level;
      }
      level++;
    }
    level = 0;
    for (Scope scope = start; scope != null; scope = scope.parent) {
      if (scope.hasAlias(name)) {
        return level;
      }
      level++;
    }
    return -1;
  }

  /// An aggregate of a query around, where a subquery in its SELECT list, HAVING or ORDER BY names it: a column behind those of its rows,
  /// until [Grouping] knows where it is.
  RexNode outer(RexLocalRef aggregate, Scope scope) {
    RelDataTypeFactory.Builder columns = context.rex.getTypeFactory().builder();
    columns.addAll(rowType(scope).getFieldList());
    List<Aggregation.Call> calls = Objects.requireNonNull(scope.clause().aggregation()).calls;
    for (int i = 0; i < calls.size(); i++) {
      columns.add("\0aggregate" + i, calls.get(i).type());
    }
    return context.rex.makeFieldAccess(
        context.rex.makeCorrel(columns.build(), correlation(scope)),
        rowType(scope).getFieldCount() + aggregate.getIndex());
  }

  /// Which of a query's aggregates an access to its rows means; -1: none, but a column.
  static int outerAggregate(RexFieldAccess access, Scope scope) {
    return access.getField().getIndex() - rowType(scope).getFieldCount();
  }

  private static RelDataType rowType(Scope scope) {
    RelDataType rowType = scope.rowType;
    if (rowType == null) {
      throw new IllegalStateException("scope of an enclosing query has no row type");
    }
    return rowType;
  }

  /// How the subquery that is being bound names a scope around it.
  private CorrelationId correlation(Scope scope) {
    CorrelationId known = scope.correlation;
    CorrelationId id = known == null ? context.newCorrelation() : known;
    scope.correlation = id;
    return id;
  }

  private RexNode outer(Scope.Field field, Scope scope) {
    RelDataType rowType = rowType(scope);
    CorrelationId id = correlation(scope);
    return field
        .expression()
        .accept(
            new RexShuttle() {
              @Override
              public RexNode visitInputRef(RexInputRef reference) {
                return context.rex.makeFieldAccess(
                    context.rex.makeCorrel(rowType, id), reference.getIndex());
              }
            });
  }
}
