package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.parser.SequenceOptions;
import dev.kakehashi.engine.sql.parser.SequenceText;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.engine.type.SequenceDefinition;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// CREATE, ALTER and DROP SEQUENCE, and the sequences of columns. A rollback does not undo the values that a sequence has given out. It
/// undoes a restart, which is another state under a new number.
final class SequencePlanner {
  private final DefinitionPlan plan;

  SequencePlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  void create(String schema, DdlStatement.CreateSequence create) {
    String name = create.name().name();
    if (create.ifNotExists() && plan.isTaken(schema, name)) {
      return;
    }
    plan.refuseTaken(schema, name);
    Integer typeOid = create.options().typeOid();
    Sequence sequence =
        sequence(schema, name, typeOid == null ? TypeOid.INT8 : typeOid, create.options())
            .withRights(plan.made(ObjectKind.SEQUENCE, schema));
    plan.change(CatalogSnapshot.put(sequence));
    own(sequence, create.options());
  }

  private Sequence sequence(String schema, String name, int typeOid, SequenceOptions options) {
    long id = plan.newObjectId();
    return new Sequence(
        schema, name, id, typeOid, numbers(id, name, typeOid, options, null), null, Rights.INITIAL);
  }

  /// @param present what is not said stays; null: gets its default
  private static SequenceDefinition numbers(
      long stateId,
      String name,
      int typeOid,
      SequenceOptions options,
      @Nullable SequenceDefinition present) {
    long typeMax = maxOf(typeOid);
    long increment = or(options.increment(), present == null ? 1 : present.increment());
    boolean up = increment > 0;
    long defaultMin = up ? 1 : -typeMax - 1;
    long defaultMax = up ? typeMax : -1;
    long min = limit(options.min(), defaultMin, present == null ? null : present.min());
    long max = limit(options.max(), defaultMax, present == null ? null : present.max());
    long start = or(options.start(), present == null ? (up ? min : max) : present.start());
    long cache = or(options.cache(), present == null ? 1 : present.cache());
    Boolean cycles = options.cycles();
    if (increment == 0) {
      throw invalid("INCREMENT must not be zero");
    }
    if (max > typeMax) {
      throw invalid("MAXVALUE (" + max + ") is out of range for the sequence\'s data type");
    }
    if (min < -typeMax - 1) {
      throw invalid("MINVALUE (" + min + ") is out of range for the sequence\'s data type");
    }
    if (min >= max) {
      throw invalid("MINVALUE (" + min + ") must be less than MAXVALUE (" + max + ")");
    }
    if (start < min) {
      throw invalid("START value (" + start + ") cannot be less than MINVALUE (" + min + ")");
    }
    if (start > max) {
      throw invalid("START value (" + start + ") cannot be greater than MAXVALUE (" + max + ")");
    }
    if (cache < 1) {
      throw invalid("CACHE (" + cache + ") must be greater than zero");
    }
    return new SequenceDefinition(
        stateId,
        name,
        start,
        increment,
        min,
        max,
        cache,
        cycles != null ? cycles : present != null && present.cycles());
  }

  private static long maxOf(int typeOid) {
    return switch (typeOid) {
      case TypeOid.INT2 -> Short.MAX_VALUE;
      case TypeOid.INT4 -> Integer.MAX_VALUE;
      case TypeOid.INT8 -> Long.MAX_VALUE;
      default -> throw invalid("sequence type must be smallint, integer, or bigint");
    };
  }

  /// @param present null: there is none
  private static long limit(SequenceOptions.Limit said, long byType, @Nullable Long present) {
    return or(said.value(), said.byType() ? byType : or(present, byType));
  }

  private static long or(@Nullable Long given, long otherwise) {
    return given == null ? otherwise : given;
  }

  private static EngineException invalid(String message) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message);
  }

  private @Nullable Sequence find(String schema, String name, boolean ifExists) {
    Sequence sequence = plan.state().sequence(schema, name);
    if (sequence != null) {
      return sequence;
    }
    refuseTable(schema, name);
    if (ifExists) {
      return null;
    }
    throw new EngineException(
        ErrorCode.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist");
  }

  private void refuseTable(String schema, String name) {
    if (plan.state().table(schema, name) != null) {
      throw new EngineException(ErrorCode.WRONG_OBJECT_TYPE, "\"" + name + "\" is not a sequence");
    }
  }

  void alter(String schema, DdlStatement.AlterSequence alter) {
    Sequence sequence = find(schema, alter.name().name(), alter.ifExists());
    if (sequence == null) {
      return;
    }
    alter(sequence, alter.options());
    own(sequence, alter.options());
  }

  /// The column that a sequence belongs to.
  record Owner(Table table, Column column) {
    EngineException refuse(Sequence sequence, String message) {
      return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, message)
          .withDetail(
              "Sequence \"%s\" is linked to table \"%s\"."
                  .formatted(sequence.name(), table.name()));
    }
  }

  static @Nullable Owner owner(Sequence sequence, CatalogSnapshot state) {
    for (Table table : state.tables()) {
      for (Column column : table.columns()) {
        if (column.owns(sequence.sequenceId())) {
          return new Owner(table, column);
        }
      }
    }
    return null;
  }

  /// OWNED BY.
  private void own(Sequence sequence, SequenceOptions options) {
    SequenceOptions.Owner said = options.owner();
    if (said == null) {
      return;
    }
    QualifiedName.Column owner = said.column();
    Owner present = owner(sequence, plan.state());
    if (present != null) {
      if (present.column().identity() != null) {
        throw present.refuse(sequence, "cannot change ownership of identity sequence");
      }
      setOwned(present.table(), present.column(), null);
    }
    if (owner != null) {
      Table table = ownerTable(sequence, owner.table());
      int position = TableAlteration.position(table, owner.column());
      Column column = table.columns().get(position);
      refuseOwner(table, column);
      if (table.rights().owner() != sequence.rights().owner()) {
        throw new EngineException(
            ErrorCode.NOT_IN_PREREQUISITE_STATE,
            "sequence must have same owner as table it is linked to");
      }
      setOwned(table, column, new Column.Owned(sequence.sequenceId(), Column.Generated.SERIAL));
    }
  }

  private Table ownerTable(Sequence sequence, QualifiedName name) {
    String schema = DefinitionPlanner.schema(name);
    Table table = plan.state().table(schema, name.name());
    if (table == null) {
      boolean taken = plan.isTaken(schema, name.name());
      throw new EngineException(
          taken ? ErrorCode.WRONG_OBJECT_TYPE : ErrorCode.UNDEFINED_TABLE,
          taken
              ? "sequence cannot be owned by relation \"" + name.name() + "\""
              : "relation \"" + name.name() + "\" does not exist");
    }
    DefinitionPlanner.refuseSystem(schema);
    if (!schema.equals(sequence.schema())) {
      throw new EngineException(
          ErrorCode.NOT_IN_PREREQUISITE_STATE,
          "sequence must be in same schema as table it is linked to");
    }
    return table;
  }

  private void setOwned(Table table, Column column, Column.@Nullable Owned owned) {
    List<Column> columns = new ArrayList<>(table.columns());
    columns.replaceAll(each -> each.equals(column) ? each.withSequence(owned) : each);
    plan.lock(table, Mode.EXCLUSIVE);
    plan.change(CatalogSnapshot.put(table.withColumns(columns)));
  }

  /// Changes what the options say.
  void alter(Sequence sequence, SequenceOptions options) {
    Integer type = options.typeOid();
    int typeOid = type == null ? sequence.typeOid() : type;
    SequenceDefinition present = sequence.definition();
    SequenceOptions said = withLimitsOf(sequence, typeOid, options);
    SequenceDefinition numbers = numbers(present.stateId(), present.name(), typeOid, said, present);
    plan.lock(sequence.sequenceId(), Mode.EXCLUSIVE);
    Sequence next = sequence.with(typeOid, numbers);
    SequenceOptions.Restart restart = options.restart();
    if (restart != null) {
      restart(next, restart.value());
    } else {
      plan.change(CatalogSnapshot.put(next));
    }
  }

  /// Limits that are those of the old type become those of the new one.
  private static SequenceOptions withLimitsOf(
      Sequence sequence, int typeOid, SequenceOptions options) {
    if (typeOid == sequence.typeOid()) {
      return options;
    }
    SequenceDefinition present = sequence.definition();
    long max = maxOf(sequence.typeOid());
    return options.withDefaultLimits(present.min() == -max - 1, present.max() == max);
  }

  /// For an identity column that gets another type.
  void retype(Sequence sequence, int typeOid) {
    alter(sequence, SequenceOptions.of(typeOid));
  }

  /// @param value null: the start
  private void restart(Sequence sequence, @Nullable Long value) {
    SequenceDefinition old = sequence.definition();
    long first = value == null ? old.start() : value;
    if (first < old.min() || first > old.max()) {
      throw invalid(
          first < old.min()
              ? "RESTART value (" + first + ") cannot be less than MINVALUE (" + old.min() + ")"
              : "RESTART value ("
                  + first
                  + ") cannot be greater than MAXVALUE ("
                  + old.max()
                  + ")");
    }
    long stateId = plan.newObjectId();
    SequenceDefinition numbers =
        new SequenceDefinition(
            stateId,
            old.name(),
            old.start(),
            old.increment(),
            old.min(),
            old.max(),
            old.cache(),
            old.cycles());
    plan.change(new CatalogChange.ForgetSequence(old.stateId()));
    plan.change(new CatalogChange.StartSequence(stateId, first));
    plan.change(CatalogSnapshot.put(sequence.with(sequence.typeOid(), numbers)));
  }

  void drop(String schema, String name, boolean ifExists, boolean cascade) {
    Sequence sequence = plan.state().sequence(schema, name);
    if (sequence == null) {
      refuseTable(schema, name);
      if (ifExists) {
        return;
      }
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "sequence \"" + name + "\" does not exist");
    }
    remove(sequence, cascade);
  }

  /// With what uses it, or refuses to.
  private void remove(Sequence sequence, boolean cascade) {
    String name = sequence.name();
    for (Table table : plan.state().tables()) {
      List<Column> columns = new ArrayList<>(table.columns());
      for (Column column : table.columns()) {
        Column.Owned identity = column.identity();
        if (identity != null && identity.sequenceId() == sequence.sequenceId()) {
          throw new EngineException(
                  ErrorCode.DEPENDENT_OBJECTS_EXIST,
                  "cannot drop sequence %s because column %s of table %s requires it"
                      .formatted(name, column.name(), table.name()))
              .withHint(
                  "You can drop column %s of table %s instead."
                      .formatted(column.name(), table.name()));
        }
        if (column.owns(sequence.sequenceId())) {
          columns.replaceAll(each -> each.equals(column) ? each.withSequence(null) : each);
        }
        if (TableExpressions.usesSequence(column, sequence.sequenceId(), plan.state())) {
          if (!cascade) {
            throw new EngineException(
                    ErrorCode.DEPENDENT_OBJECTS_EXIST,
                    "cannot drop sequence " + name + " because other objects depend on it")
                .withDetail(
                    "default value for column %s of table %s depends on sequence %s"
                        .formatted(column.name(), table.name(), name))
                .withHint("Use DROP ... CASCADE to drop the dependent objects too.");
          }
          columns.replaceAll(
              each -> each.name().equals(column.name()) ? each.withDefault(null) : each);
        }
      }
      if (!columns.equals(table.columns())) {
        plan.lock(table, Mode.EXCLUSIVE);
        plan.change(CatalogSnapshot.put(table.withColumns(columns)));
      }
    }
    plan.lock(sequence.sequenceId(), Mode.EXCLUSIVE);
    plan.change(new CatalogChange.ForgetSequence(sequence.definition().stateId()));
    plan.change(CatalogSnapshot.remove(sequence));
  }

  /// The sequences of a schema go with it.
  void dropAll(String schema) {
    for (Sequence sequence : List.copyOf(plan.state().sequences())) {
      if (sequence.schema().equals(schema)) {
        drop(schema, sequence.name(), true, true);
      }
    }
  }

  // ---- columns ----

  /// The column with its sequence, which is made.
  Column withSequence(
      String schema, String table, Column column, DdlStatement.@Nullable SequenceColumn wanted) {
    if (wanted == null) {
      return column;
    }
    int typeOid = column.type().oid();
    boolean serial = wanted.generated() == Column.Generated.SERIAL;
    requireSequenceType(column.type());
    if (column.defaultText() != null) {
      throw new EngineException(
          ErrorCode.SYNTAX_ERROR,
          "%s specified for column \"%s\" of table \"%s\""
              .formatted(
                  serial ? "multiple default values" : "both default and identity",
                  column.name(),
                  table));
    }
    String base = table + "_" + column.name() + "_seq";
    String name = base;
    for (int i = 1; plan.isTaken(schema, name); i++) {
      name = base + i;
    }
    Table present = plan.state().table(schema, table);
    Sequence sequence =
        sequence(schema, name, typeOid, wanted.options())
            .withRights(
                present == null
                    ? plan.made(ObjectKind.SEQUENCE, schema)
                    : plan.state()
                        .access()
                        .made(present.rights().owner(), ObjectKind.SEQUENCE, schema));
    plan.change(CatalogSnapshot.put(sequence));
    Column owner = column.withSequence(new Column.Owned(sequence.sequenceId(), wanted.generated()));
    return serial
        ? owner.withDefault("nextval(" + SequenceText.literal(schema, name) + ")")
        : owner;
  }

  /// @throws EngineException INVALID_PARAMETER_VALUE for a type that an identity column cannot have
  static void requireSequenceType(SqlType type) {
    int typeOid = type.oid();
    if (typeOid != TypeOid.INT2 && typeOid != TypeOid.INT4 && typeOid != TypeOid.INT8) {
      throw invalid("identity column type must be smallint, integer, or bigint");
    }
  }

  /// A column has one sequence at most.
  void refuseOwner(Table table, Column column) {
    Column.Owned owned = column.sequence();
    Sequence sequence = owned == null ? null : plan.state().sequence(owned.sequenceId());
    if (sequence != null) {
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "column \"%s\" of relation \"%s\" owns sequence \"%s\", and a second one is not supported"
                  .formatted(column.name(), table.name(), sequence.name()))
          .withHint("Drop the sequence first.");
    }
  }

  /// The sequences of columns that are dropped.
  void dropOwned(List<Column> columns, boolean cascade) {
    for (Column column : columns) {
      Column.Owned owned = column.sequence();
      Sequence sequence = owned == null ? null : plan.state().sequence(owned.sequenceId());
      if (sequence != null) {
        remove(sequence, cascade);
      }
    }
  }

  /// TRUNCATE ... RESTART IDENTITY.
  void restartOwned(List<Column> columns) {
    for (Column column : columns) {
      Column.Owned owned = column.sequence();
      Sequence sequence = owned == null ? null : plan.state().sequence(owned.sequenceId());
      if (sequence != null) {
        plan.lock(sequence.sequenceId(), Mode.EXCLUSIVE);
        restart(sequence, null);
      }
    }
  }
}
