package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import java.util.Locale;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;

/// The system column `ctid`: what names a row of a stored table, an int8 (see [dev.kakehashi.engine.store.api.TableStore#identity]).
///
/// It is computed from the row identifier, which follows the columns of a table that is scanned with it. That is done where the text that
/// is bound has the word, so that other statements are planned as if there were no such column. Rows that are not stored, those of views
/// and system tables, have none: it is null.
public final class RowIdentityColumn {
  static final String NAME = "ctid";

  private static final String FUNCTION = "row_identity";

  private RowIdentityColumn() {}

  /// Whether a text may name identities of rows.
  public static boolean isIn(String text) {
    return text.toLowerCase(Locale.ROOT).contains(NAME);
  }

  private static boolean isWanted(BindContext context) {
    return context.namesIdentities || isIn(context.source.text());
  }

  /// Whether the statement, or the text of a view that is being bound, may name the identities of a table's rows.
  public static boolean isNamed(Table table, BindContext context) {
    return !table.isSystem()
        && isWanted(context)
        && table.columns().stream().noneMatch(column -> column.name().equals(NAME));
  }

  /// Adds the column to a table that is scanned with its row identifier.
  public static void addTo(FromBinder.From from, Table table, BindContext context) {
    Scope.Field first = from.fields().getFirst();
    from.fields()
        .add(
            new Scope.Field(
                    first.alias(), first.schema(), NAME, of(from.rel(), table, context), false)
                .of(first.origin() == null ? null : new Scope.Origin(first.origin().use(), -1))
                .asSystem());
  }

  /// Adds the column to rows that have no identity: those of views and system tables. It is null.
  static void addMissing(FromBinder.From from, String alias, BindContext context) {
    boolean has = from.fields().stream().anyMatch(field -> field.name().equals(NAME));
    if (!has && isWanted(context)) {
      from.fields()
          .add(
              new Scope.Field(
                      alias,
                      null,
                      NAME,
                      context.rex.makeNullLiteral(context.types.of(SqlType.of(TypeOid.INT8), true)),
                      false)
                  .asSystem());
    }
  }

  private static RexNode of(RelNode scan, Table table, BindContext context) {
    long tableId = table.tableId();
    SqlType type = SqlType.of(TypeOid.INT8);
    ScalarFunction function =
        new ScalarFunction(
            FUNCTION,
            new int[] {TypeOid.INT8},
            TypeOid.INT8,
            true,
            false,
            (words, nulls, c) -> c.identities.of(tableId, words[0]));
    return context.rex.makeCall(
        context.types.of(type, false),
        new PgOperators.FunctionOperator(function, type, true, ":" + tableId),
        List.of(context.rex.makeInputRef(scan, table.columns().size())));
  }

  /// Position of the row identifier whose identity an expression is; -1: it is something else.
  public static int rowIdOf(RexNode node) {
    return node instanceof RexCall call
            && call.getOperator() instanceof PgOperators.FunctionOperator operator
            && operator.function.name().equals(FUNCTION)
            && call.getOperands().getFirst() instanceof RexInputRef reference
        ? reference.getIndex()
        : -1;
  }
}
