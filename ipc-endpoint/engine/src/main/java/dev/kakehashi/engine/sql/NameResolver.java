package dev.kakehashi.engine.sql;

import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.sql.SqlIdentifier;
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
        return scope == start ? found.getFirst().expression() : outer(found.getFirst(), scope);
      }
      aliasKnown |= alias != null && scope.hasAlias(alias);
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

  /// The columns of a table of FROM that a name means; null if it means something else.
  RecordBinder.@Nullable Row row(String name, Scope start) {
    for (Scope scope = start; scope != null; scope = scope.parent) {
      if (scope.fields.stream()
          .anyMatch(field ->
              matches(field, null, null, name) || (field.row() && name.equals(field.alias())))) {
        return null;
      }
    }
    for (Scope scope = start; scope != null; scope = scope.parent) {
      if (scope.hasAlias(name)) {
        List<RexNode> entries = new ArrayList<>();
        List<String> names = new ArrayList<>();
        boolean optional = false;
        for (Scope.Field field : scope.fields) {
          if (name.equals(field.alias())) {
            entries.add(scope == start ? field.expression() : outer(field, scope));
            names.add(field.name());
            optional |= field.optional();
          }
        }
        return new RecordBinder.Row(entries, names, optional);
      }
    }
    return null;
  }

  /// The columns that `alias.*` means.
  List<RexNode> columns(SqlIdentifier star, Scope scope) {
    String alias = star.names.get(star.names.size() - 2);
    RecordBinder.Row row = row(alias, scope);
    if (row == null) {
      throw context.error(
          ErrorCode.UNDEFINED_TABLE, "missing FROM-clause entry for table \"" + alias + "\"", star);
    }
    return row.entries();
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

  private RexNode outer(Scope.Field field, Scope scope) {
    RelDataType rowType = scope.rowType;
    if (rowType == null) {
      throw new IllegalStateException("scope of an enclosing query has no row type");
    }
    CorrelationId known = scope.correlation;
    CorrelationId id = known == null ? context.newCorrelation() : known;
    scope.correlation = id;
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
