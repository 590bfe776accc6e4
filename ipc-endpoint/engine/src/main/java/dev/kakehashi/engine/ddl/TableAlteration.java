package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.sql.SqlFront;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.parser.DdlStatement.Alteration;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/// ALTER TABLE: works out the form that the table gets, then what brings it there. Rows stay where they are, and are looked at only when a
/// new constraint asks for it, unless each gets a value of its own: of another type, or of a volatile default. Then they are copied to a
/// new table that takes the place of the old one.
final class TableAlteration {
  private final DefinitionPlan plan;
  private final ConstraintPlanner constraints;
  private final SequencePlanner sequences;
  private final TablePlanner tables;
  private final IdentityPlanner identities;
  private final GenerationPlanner generations;
  private final Table old;

  /// The form so far.
  private Table table;

  /// Value of each column of the form, in terms of the old columns.
  private final List<Expr> values = new ArrayList<>();

  /// Names of columns and CHECK constraints that rows have to be checked for.
  private final Set<String> newNotNull = new HashSet<>();

  private final Set<String> newChecks = new HashSet<>();
  private final Set<String> nowNullable = new HashSet<>();
  private final Set<String> retyped = new HashSet<>();

  /// Columns whose sequences go.
  private final List<Column> dropped = new ArrayList<>();

  /// Names of generated columns whose values are to be computed.
  private final Set<String> newGenerated = new HashSet<>();

  private boolean copies;
  private boolean reshapes;

  /// Where each old column is now; -1: dropped.
  private final int[] moved;

  private final ForeignKeyPlanner references;
  private boolean cascades;

  TableAlteration(
      DefinitionPlan plan,
      ConstraintPlanner constraints,
      SequencePlanner sequences,
      TablePlanner tables,
      Table old) {
    this.plan = plan;
    this.tables = tables;
    this.constraints = constraints;
    this.sequences = sequences;
    this.generations = new GenerationPlanner(plan);
    this.identities = new IdentityPlanner(plan, sequences);
    this.old = old;
    this.table = old;
    this.references = new ForeignKeyPlanner(plan);
    this.moved = IntStream.range(0, old.columns().size()).toArray();
    for (int i = 0; i < old.columns().size(); i++) {
      values.add(new Expr.Column(i, old.columns().get(i).type().oid()));
    }
  }

  void apply(List<Alteration> alterations) {
    alterations.stream()
        .sorted(Comparator.comparingInt(TableAlteration::pass))
        .forEach(this::alter);
    finish();
  }

  /// CREATE INDEX over expressions: each is a column that is computed like a generated one, and which nothing names.
  ///
  /// @param expressions the hidden columns
  /// @param index of the table with them
  void addIndex(List<DdlStatement.ColumnDefinition> expressions, Function<Table, Index> index) {
    for (DdlStatement.ColumnDefinition expression : expressions) {
      addColumn(new Alteration.AddColumn(expression, false, DdlStatement.Constraints.empty()));
    }
    List<Index> indexes = new ArrayList<>(table.indexes());
    indexes.add(index.apply(table));
    table = table.withIndexes(indexes);
    finish();
  }

  /// DROP INDEX of one over expressions.
  void dropIndex(Index index) {
    List<String> hidden =
        index.columns().stream()
            .map(column -> table.columns().get(column))
            .filter(Column::hidden)
            .map(Column::name)
            .toList();
    hidden.forEach(name -> dropColumn(new Alteration.DropColumn(name, false, false)));
    finish();
  }

  void renameIndex(String from, String to) {
    plan.refuseTaken(old.schema(), to);
    table = old.withIndexes(renamed(from, to));
    if (table.hasConstraint(to)) {
      table = table.withConstraintComment(to, old.constraintComments().get(from));
    }
    finish();
  }

  private List<Index> renamed(String from, String to) {
    List<Index> indexes = new ArrayList<>(table.indexes());
    indexes.replaceAll(index -> index.name().equals(from) ? index.withName(to) : index);
    return indexes;
  }

  /// Actions of one statement are made in the order that PostgreSQL has for them, those of one kind in the order in which they are written.
  private static int pass(Alteration alteration) {
    return switch (alteration) {
      case Alteration.DropColumn drop -> 0;
      case Alteration.DropConstraint drop -> 0;
      case Alteration.DropExpression drop -> 0;
      case Alteration.SetNotNull set when !set.notNull() -> 0;
      case Alteration.SetDefault set -> set.text() == null ? 0 : 4;
      case Alteration.DropIdentity drop -> 0;
      case Alteration.SetType set -> 1;
      case Alteration.AddColumn add -> 2;
      // It needs NOT NULL, which may be said behind it.
      case Alteration.AddIdentity add -> 4;
      case Alteration.AddConstraint add -> 4;
      case Alteration.ValidateConstraint validate -> 5;
      default -> 3;
    };
  }

  private void alter(Alteration alteration) {
    switch (alteration) {
      case Alteration.AddColumn add -> addColumn(add);
      case Alteration.DropColumn drop -> dropColumn(drop);
      case Alteration.RenameColumn rename -> renameColumn(rename.from(), rename.to());
      case Alteration.RenameTable rename -> {
        plan.refuseTaken(table.schema(), rename.to());
        table = table.withName(rename.to());
      }
      case Alteration.SetSchema set -> table = new NamePlanner(plan).moved(table, set.schema());
      case Alteration.RenameConstraint rename -> renameConstraint(rename.from(), rename.to());
      case Alteration.SetDefault set -> {
        int position = position(set.column());
        String text = set.text();
        Column column = table.columns().get(position);
        IdentityPlanner.refuse(
            table,
            column,
            text == null ? "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead." : null);
        GenerationPlanner.refuse(
            table,
            column,
            text == null ? "Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead." : null);
        if (text != null) {
          SqlFront.checkDefault(text, column.type(), plan.state());
        }
        replace(position, present -> present.withDefault(text));
      }
      case Alteration.SetNotNull set -> setNotNull(set.column(), set.notNull());
      case Alteration.SetType set -> setType(set);
      case Alteration.AddIdentity add ->
          replace(position(add.column()), column -> identities.added(table, column, add));
      case Alteration.SetIdentity set ->
          replace(position(set.column()), column -> identities.changed(table, column, set));
      case Alteration.DropIdentity drop -> dropIdentity(drop);
      case Alteration.DropExpression drop ->
          table = GenerationPlanner.dropped(table, drop, position(drop.column()));
      case Alteration.AddConstraint add -> addConstraint(add.constraint());
      case Alteration.DropConstraint drop -> dropConstraint(drop);
      case Alteration.AlterConstraint alter ->
          table = ForeignKeyPlanner.alter(table, alter.constraint(), alter.timing());
      case Alteration.Storage storage -> {
        String column = storage.column();
        if (column != null) {
          position(column);
        }
      }
      case Alteration.ValidateConstraint validate -> {
        table = ForeignKeyPlanner.alter(table, validate.constraint(), null);
        validate(validate.constraint());
      }
    }
  }

  private int position(String column) {
    return position(table, column);
  }

  /// @throws EngineException UNDEFINED_COLUMN
  static int position(Table table, String column) {
    int position = table.columnIndex(column);
    if (position < 0) {
      ColumnNames.refuseToChange(column, "alter");
      throw refusal(ErrorCode.UNDEFINED_COLUMN, table, column, "does not exist");
    }
    return position;
  }

  /// Failure that says what is wrong with a column.
  static EngineException refusal(ErrorCode code, Table table, String column, String what) {
    return new EngineException(
        code, "column \"%s\" of relation \"%s\" %s".formatted(column, table.name(), what));
  }

  private void replace(int position, UnaryOperator<Column> change) {
    List<Column> columns = new ArrayList<>(table.columns());
    columns.set(position, change.apply(columns.get(position)));
    table = table.withColumns(columns);
  }

  // ---- columns ----

  private void addColumn(Alteration.AddColumn add) {
    DdlStatement.ColumnDefinition definition = add.column();
    if (table.columnIndex(definition.name()) >= 0) {
      if (add.ifNotExists()) {
        return;
      }
      throw duplicateColumn(definition.name());
    }
    definition.requireNoConflict();
    ColumnNames.refuseSystem(definition.name());
    List<Column> columns = new ArrayList<>(table.columns());
    columns.add(tables.column(table.schema(), table.name(), definition));
    table = table.withColumns(columns);
    int position = columns.size() - 1;
    if (definition.generation() == null) {
      Expr value = TableExpressions.defaultValue(table, position, plan.state());
      values.add(value);
      copies |= ConstantDefault.isVolatile(value);
    } else {
      TableExpressions.generation(table, position, plan.state());
      values.add(Expr.Constant.nullOf(definition.type().oid()));
      newGenerated.add(definition.name());
    }
    if (definition.notNull()) {
      newNotNull.add(definition.name());
    }
    reshapes = true;
    addConstraint(add.constraints());
  }

  /// Computes the values of rows in new generated columns, in terms of the old columns.
  private void computeGenerated() {
    for (String name : newGenerated) {
      int position = table.columnIndex(name);
      Expr value = TableExpressions.generation(table, position, plan.state()).expression();
      values.set(
          position,
          new ExprRewriter() {
            @Override
            public Expr column(Expr.Column column) {
              return values.get(column.index());
            }
          }.rewrite(value));
      copies = true;
    }
  }

  private EngineException duplicateColumn(String name) {
    return refusal(ErrorCode.DUPLICATE_COLUMN, table, name, "already exists");
  }

  /// With the indexes and constraints that have the column, as PostgreSQL does.
  private void dropColumn(Alteration.DropColumn drop) {
    if (table.columnIndex(drop.column()) < 0) {
      ColumnNames.refuseToChange(drop.column(), "drop");
    }
    if (table.columnIndex(drop.column()) < 0 && drop.ifExists()) {
      return;
    }
    int generatedFrom = position(drop.column());
    for (String generated : generations.from(table, generatedFrom)) {
      if (table.columnIndex(generated) < 0) {
        continue; // that of an index over a generated column, and gone with it
      }
      // Indexes go with their columns.
      if (!drop.cascade() && !table.columns().get(table.columnIndex(generated)).hidden()) {
        throw GenerationPlanner.dependent(table, drop.column(), generated);
      }
      dropColumn(new Alteration.DropColumn(generated, false, true));
    }
    int position = position(drop.column());
    if (table.columns().size() == 1) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "dropping the last column of a table is not supported");
    }
    List<Column> columns = new ArrayList<>(table.columns());
    columns.remove(position);
    values.remove(position);
    cascades |= drop.cascade();
    for (int i = 0; i < moved.length; i++) {
      moved[i] = moved[i] == position ? -1 : moved[i] > position ? moved[i] - 1 : moved[i];
    }
    dropped.add(table.columns().get(position));
    List<Index> indexes = new ArrayList<>();
    for (Index index : table.indexes()) {
      if (!index.uses(position)) {
        indexes.add(index.moved(column -> column > position ? column - 1 : column));
      }
    }
    List<CheckConstraint> checks = new ArrayList<>();
    for (CheckConstraint check : table.checks()) {
      if (!check.columns().contains(position)) {
        checks.add(
            check.withColumns(
                check.columns().stream().map(c -> c > position ? c - 1 : c).toList()));
      }
    }
    table =
        ForeignKeyPlanner.withoutColumn(table, position)
            .withColumns(columns)
            .withIndexes(indexes)
            .withChecks(checks);
    newNotNull.remove(drop.column());
    newGenerated.remove(drop.column());
    reshapes = true;
  }

  private void renameColumn(String from, String to) {
    int position = table.columnIndex(from);
    if (position < 0) {
      ColumnNames.refuseToChange(from, "rename");
      throw new EngineException(
          ErrorCode.UNDEFINED_COLUMN, "column \"" + from + "\" does not exist");
    }
    if (table.columnIndex(to) >= 0) {
      throw duplicateColumn(to);
    }
    ColumnNames.refuseSystem(to);
    List<String> generated = generations.from(table, position);
    replace(position, column -> column.withName(to));
    table = generations.renamed(table, generated, from, to);
    List<CheckConstraint> checks = new ArrayList<>();
    for (CheckConstraint check : table.checks()) {
      String text =
          check.columns().contains(position)
              ? TableExpressions.renamed(check.text(), from, to)
              : check.text();
      if (!TableExpressions.check(text, table, plan.state()).columns().equals(check.columns())) {
        throw new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "cannot rename a column within check constraint \"" + check.name() + "\"");
      }
      checks.add(check.withText(text));
    }
    table = table.withChecks(checks);
  }

  private void dropIdentity(Alteration.DropIdentity drop) {
    int position = position(drop.column());
    Column column = table.columns().get(position);
    if (IdentityPlanner.drops(table, column, drop.ifExists())) {
      dropped.add(column);
      replace(position, present -> present.withSequence(null));
    }
  }

  private void setNotNull(String name, boolean notNull) {
    int position = position(name);
    Index key = table.primaryKey();
    if (!notNull && key != null && key.columns().contains(position)) {
      throw new EngineException(
          ErrorCode.INVALID_TABLE_DEFINITION, "column \"" + name + "\" is in a primary key");
    }
    if (!notNull) {
      IdentityPlanner.refuse(table, table.columns().get(position), null);
    }
    if (table.columns().get(position).notNull() == notNull) {
      return;
    }
    replace(position, column -> column.withNotNull(notNull));
    if (notNull) {
      newNotNull.add(name);
    } else {
      newNotNull.remove(name);
      nowNullable.add(name);
    }
  }

  private void setType(Alteration.SetType set) {
    int position = position(set.column());
    Column column = table.columns().get(position);
    generations.refuseTypeChange(table, position, set);
    identities.retype(column, set.type());
    int oldPosition =
        values.get(position) instanceof Expr.Column value && sameType(value, column)
            ? value.index()
            : -1;
    if (oldPosition < 0 || !retyped.add(set.column())) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "cannot alter the type of column \"" + set.column() + "\" twice in one statement");
    }
    for (Index index : table.indexes()) {
      if (index.columns().contains(position)) {
        ConstraintPlanner.requireKey(set.type());
      }
    }
    boolean kept = set.using() == null && StoredForm.keeps(column.type(), set.type());
    for (Index index : table.indexes()) {
      if (!kept
          && index.predicate().stream()
              .anyMatch(each -> each.column() == position && each.value() != null)) {
        throw new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "cannot alter the type of column \"%s\" used in the predicate of index \"%s\""
                .formatted(set.column(), index.name()));
      }
    }
    if (!kept) {
      references.refuseInKeys(old, table, position, set.column());
    }
    Expr converted =
        TableExpressions.conversion(old, oldPosition, set.type(), set.using(), plan.state());
    String defaultText = column.defaultText();
    if (defaultText != null) {
      SqlFront.checkDefault(defaultText, set.type(), plan.state());
    }
    List<String> dependent = generations.from(table, position);
    replace(position, present -> present.withType(set.type()));
    dependent.forEach(this::indexAgain);
    if (column.generation() != null) {
      TableExpressions.generation(table, position, plan.state());
    }
    table.checks().stream()
        .filter(check -> check.columns().contains(position))
        .forEach(check -> {
          TableExpressions.check(check.text(), table, plan.state());
          if (check.validated()) {
            newChecks.add(check.name());
          }
        });
    if (!kept) {
      values.set(position, converted);
      copies = true;
    }
  }

  /// The expression of an index, of which a column has got another type, may have another type as well.
  private void indexAgain(String hidden) {
    int position = table.columnIndex(hidden);
    String text = Objects.requireNonNull(table.columns().get(position).generation());
    SqlType type = TableExpressions.indexExpression(text, table, plan.state()).type();
    ConstraintPlanner.requireKey(type);
    replace(position, column -> column.withType(type));
    newGenerated.add(hidden);
  }

  private boolean sameType(Expr.Column value, Column column) {
    return old.columns().get(value.index()).type().equals(column.type());
  }

  // ---- constraints ----

  private void addConstraint(DdlStatement.Constraints added) {
    Table before = table;
    table = constraints.add(table, added);
    for (int i = 0; i < table.columns().size(); i++) {
      Column column = table.columns().get(i);
      if (column.notNull() && !before.columns().get(i).notNull()) {
        newNotNull.add(column.name());
      }
    }
    table.checks().stream()
        .filter(check -> check.validated() && !before.checks().contains(check))
        .forEach(check -> newChecks.add(check.name()));
  }

  /// Looks at all rows, unless a CHECK constraint of the name is known to hold.
  private void validate(String name) {
    List<CheckConstraint> checks = new ArrayList<>();
    for (CheckConstraint check : table.checks()) {
      if (check.name().equals(name) && !check.validated()) {
        newChecks.add(name);
        checks.add(check.withValidated(true));
      } else {
        checks.add(check);
      }
    }
    table = table.withChecks(checks);
  }

  private void renameConstraint(String from, String to) {
    if (!table.hasConstraint(from)) {
      throw noConstraint(from);
    }
    if (table.hasConstraint(to)) {
      throw new EngineException(
          ErrorCode.DUPLICATE_OBJECT,
          "constraint \"" + to + "\" for relation \"" + table.name() + "\" already exists");
    }
    if (table.indexes().stream().anyMatch(index -> index.name().equals(from))) {
      plan.refuseTaken(table.schema(), to);
    }
    List<CheckConstraint> checks = new ArrayList<>(table.checks());
    checks.replaceAll(check -> check.name().equals(from) ? check.withName(to) : check);
    List<ForeignKey> keys = new ArrayList<>(table.foreignKeys());
    keys.replaceAll(key -> key.name().equals(from) ? key.withName(to) : key);
    String comment = table.constraintComments().get(from);
    table =
        table
            .withIndexes(renamed(from, to))
            .withChecks(checks)
            .withForeignKeys(keys)
            .withConstraintComment(to, comment);
  }

  private void dropConstraint(Alteration.DropConstraint drop) {
    String name = drop.constraint();
    if (!table.hasConstraint(name)) {
      if (drop.ifExists()) {
        return;
      }
      throw noConstraint(name);
    }
    table =
        table
            .withIndexes(
                table.indexes().stream()
                    .filter(index -> !(index.constraint() && index.name().equals(name)))
                    .toList())
            .withChecks(
                table.checks().stream().filter(check -> !check.name().equals(name)).toList())
            .withForeignKeys(
                table.foreignKeys().stream().filter(key -> !key.name().equals(name)).toList());
    newChecks.remove(name);
    cascades |= drop.cascade();
  }

  private EngineException noConstraint(String name) {
    return new EngineException(
        ErrorCode.UNDEFINED_OBJECT,
        "constraint \"" + name + "\" of relation \"" + table.name() + "\" does not exist");
  }

  // ---- the way there ----

  private void finish() {
    if (table.equals(old) && !copies) {
      sequences.dropOwned(dropped, cascades);
      return;
    }
    plan.lock(old, Mode.EXCLUSIVE);
    List<ForeignKey> newKeys = ForeignKeyPlanner.newKeys(old, table);
    computeGenerated();
    references.lockOthers(old, table);
    table = references.altered(old, table, i -> moved[i], cascades);
    // The keys of an index say whether its columns may be null.
    for (Index index : table.indexes()) {
      copies |=
          index.columns().stream()
              .anyMatch(c -> nowNullable.contains(table.columns().get(c).name()));
    }
    new TableRewrite(plan, references, old, table, values, newNotNull, newChecks)
        .run(copies, reshapes);
    references.validate(newKeys);
    sequences.dropOwned(dropped, cascades);
  }
}
