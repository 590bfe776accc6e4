package dev.kakehashi.engine.sql.typing;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.LiveTables;
import dev.kakehashi.engine.catalog.Needs;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.sql.algebra.CatalogTable;
import dev.kakehashi.engine.sql.algebra.PgTypeFactory;
import dev.kakehashi.engine.sql.algebra.RulePlanner;
import dev.kakehashi.engine.sql.cardinality.RowEstimates;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.application.ApplicationUses;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.time.Zone;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelOptCostImpl;
import org.apache.calcite.plan.hep.HepProgram;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// State that the binding of one statement shares. Confined to one thread.
public final class BindContext {
  /// Most tables, views and queries of WITH that a statement may read. A few lines of queries that name each other twice would read
  /// millions.
  private static final int MAX_READS = 10_000;

  public final CatalogSnapshot catalog;
  public final ToLongFunction<Table> rowCount;
  public final PgTypeFactory types = new PgTypeFactory();
  public final RexBuilder rex = new RexBuilder(types);
  public final RelOptCluster cluster;
  public final List<Table> tables = new ArrayList<>();

  /// Estimates of the optimiser for the plan.
  public final PlanEstimates estimates = new PlanEstimates();

  public final CommonTables commonTables = new CommonTables();

  /// Numbers of the sequences, views and applications that the statement uses.
  public final Set<Long> objects = new LinkedHashSet<>();

  /// Text that is being bound.
  public Source source = new Source("", List.of(), new int[0], 0);

  /// Type of each parameter; 0 while it is not known.
  private int[] parameterOids;

  /// Whether the statement has the word `ctid`.
  public boolean namesIdentities;

  /// Whether a SELECT of the statement locks rows.
  public boolean locksRows;

  /// Whether the statement calls a function that changes queues.
  public boolean changesQueues;

  /// Construct around the part of a recursive term that is being bound, in which the recursive query must not be named; null: none.
  public @Nullable String recursionBarrier;

  /// Code of applications as the planner uses it, for calls of constants; whoever makes the context closes it.
  public final ApplicationUses applications;

  private int nextAlias;

  private int nextWorkTable;

  /// Tables, views and queries of WITH that are read so far: what a view or query reads counts wherever that is named, because it is bound
  /// anew there.
  private int reads;

  /// Zone of timestamptz literals that say no zone. Texts that the catalogue keeps are read in UTC, in every session.
  private final Zone sessionZone;

  /// Whether the plan is of the session's zone.
  public boolean zoneUsed;

  private int stored;

  private final List<RelationUse> relations = new ArrayList<>();
  private final List<Needs.Schema> schemas = new ArrayList<>();
  private final List<Needs.SequenceUse> sequences = new ArrayList<>();
  private final List<Needs.MemberUse> members = new ArrayList<>();

  /// Whose rights count for what is being bound; null: those of who runs the statement.
  private @Nullable Long asRole;

  /// For what the catalogue keeps as text.
  public BindContext(CatalogSnapshot catalog, ToLongFunction<Table> rowCount, int[] parameterOids) {
    this(catalog, rowCount, parameterOids, Zone.UTC);
  }

  public BindContext(
      CatalogSnapshot catalog, ToLongFunction<Table> rowCount, int[] parameterOids, Zone zone) {
    this.sessionZone = zone;
    this.applications =
        rowCount instanceof LiveTables live
            ? new ApplicationUses(live.applications())
            : ApplicationUses.NONE;
    this.catalog = catalog;
    this.rowCount = rowCount;
    this.parameterOids = parameterOids.clone();
    this.cluster =
        RelOptCluster.create(
            new RulePlanner(HepProgram.builder().build(), RelOptCostImpl.FACTORY), rex);
    cluster.setMetadataQuerySupplier(RowEstimates::new);
  }

  /// A table for Calcite; the plan depends on its statistics.
  public CatalogTable catalogTable(Table table) {
    return catalogTable(table, false);
  }

  /// The same with the row identifier as the last column.
  public CatalogTable catalogTableWithRowId(Table table) {
    return catalogTable(table, true);
  }

  private CatalogTable catalogTable(Table table, boolean withRowId) {
    estimates.use(table.tableId());
    return CatalogTable.of(table, withRowId, types, rowCount, catalog);
  }

  /// Notes that a table, view or query of WITH is read.
  ///
  /// @throws EngineException LIMIT_EXCEEDED, QUERY_CANCELED
  public void read(SqlNode at) {
    Interrupts.check();
    if (++reads > MAX_READS) {
      throw error(
              ErrorCode.LIMIT_EXCEEDED, "statement reads more than " + MAX_READS + " tables", at)
          .withHint("What a view or a query of WITH reads counts wherever that is named.");
    }
  }

  /// Notes that the statement names a table or view, and gives what it is to need there.
  public RelationUse use(long id) {
    RelationUse use = new RelationUse(id, asRole);
    if (id > 0) { // tables of the system are everybody's
      relations.add(use);
    }
    return use;
  }

  /// Notes that the statement itself, and no text of the catalogue, names something in a schema.
  ///
  /// @param schema as written; null: it is not
  /// @param relation what it names there
  public void useSchema(@Nullable String schema, String relation, int position) {
    if (stored == 0) {
      schemas.add(
          schema == null
              ? new Needs.Schema(CatalogSnapshot.DEFAULT_SCHEMA, relation, position)
              : new Needs.Schema(schema, null, position));
    }
  }

  /// Notes that who runs the statement uses a sequence.
  ///
  /// @param anyOf set of privileges of which one is needed
  public void useSequence(long id, int anyOf) {
    sequences.add(new Needs.SequenceUse(id, anyOf));
  }

  /// Notes that who runs the statement calls a function or procedure of an application, on which its plan depends.
  ///
  /// @param kind FUNCTION or PROCEDURE
  public void useMember(long applicationId, ObjectKind kind, String name) {
    members.add(new Needs.MemberUse(applicationId, kind, name));
    objects.add(applicationId);
  }

  /// Does something with the rights of a role: what a view names is read with those of its owner.
  public <T> T as(long role, Supplier<T> action) {
    Long saved = asRole;
    asRole = role;
    try {
      return action.get();
    } finally {
      asRole = saved;
    }
  }

  /// How much was noted at a moment.
  public record Noted(int relations, int sequences, int members, int reads) {}

  public Noted noted() {
    return new Noted(relations.size(), sequences.size(), members.size(), reads);
  }

  /// Forgets what was noted since, but for the schemas.
  public void forgetSince(Noted before) {
    relations.subList(before.relations(), relations.size()).clear();
    sequences.subList(before.sequences(), sequences.size()).clear();
    members.subList(before.members(), members.size()).clear();
    reads = before.reads();
  }

  /// Needs that were noted so far.
  public Needs needs() {
    return new Needs(
        List.copyOf(schemas),
        relations.stream().map(RelationUse::need).toList(),
        List.copyOf(sequences),
        List.copyOf(members),
        null);
  }

  public CorrelationId newCorrelation() {
    return cluster.createCorrel();
  }

  public String newAlias() {
    return "?column" + nextAlias++ + "?";
  }

  /// Type of `$number`, 0 if not known yet.
  public int parameterOid(int number) {
    if (number > parameterOids.length) {
      parameterOids = Arrays.copyOf(parameterOids, number);
    }
    return parameterOids[number - 1];
  }

  /// Number of parameters seen so far.
  public int parameterCount() {
    return parameterOids.length;
  }

  /// A number for a recursion's work table.
  public int newWorkTable() {
    return nextWorkTable++;
  }

  void setParameterOid(int number, int oid) {
    parameterOid(number);
    parameterOids[number - 1] = oid;
  }

  /// Types of all parameters after binding.
  ///
  /// @throws EngineException INDETERMINATE_DATATYPE for one that is never used
  public int[] parameterOids() {
    for (int i = 0; i < parameterOids.length; i++) {
      if (parameterOids[i] == 0 || parameterOids[i] == Types.UNKNOWN) {
        throw new EngineException(
            ErrorCode.INDETERMINATE_DATATYPE,
            "could not determine data type of parameter $" + (i + 1));
      }
    }
    return parameterOids;
  }

  /// Numbers of the stored tables, sequences and views that the statement uses, each once.
  public long[] usedTables() {
    return LongStream.concat(
            tables.stream().mapToLong(Table::tableId).filter(id -> id > 0),
            objects.stream().mapToLong(id -> id))
        .distinct()
        .toArray();
  }

  /// Position of a node in the statement, from 1.
  public int position(SqlNode node) {
    return source.position(node.getParserPosition().getColumnNum());
  }

  /// Does something while `text` is the text that is being bound.
  public <T> T within(Source text, Supplier<T> action) {
    Source saved = source;
    source = text;
    try {
      return action.get();
    } finally {
      source = saved;
    }
  }

  /// The same with a text that the catalogue keeps.
  public <T> T withinStored(Source text, Supplier<T> action) {
    return withinStored(() -> within(text, action));
  }

  /// Does something with a text that the catalogue keeps.
  public <T> T withinStored(Supplier<T> action) {
    stored++;
    try {
      return action.get();
    } finally {
      stored--;
    }
  }

  /// The zone of a literal of timestamptz or timetz that says none; noted as used.
  Zone zone() {
    if (stored > 0) {
      return Zone.UTC;
    }
    zoneUsed = true;
    return sessionZone;
  }

  /// Session of functions that are called while the statement is planned.
  FunctionSession planning() {
    return FunctionSession.with(applications);
  }

  /// Does something where a recursive query must not be named by its recursive term.
  ///
  /// @param where for messages: a subquery, an outer join; null: it may be named again, in a term within
  public <T> T barring(@Nullable String where, Supplier<T> action) {
    String saved = recursionBarrier;
    recursionBarrier = where;
    try {
      return action.get();
    } finally {
      recursionBarrier = saved;
    }
  }

  public EngineException error(ErrorCode code, String message, SqlNode at) {
    return new EngineException(code, message).withPosition(position(at));
  }
}
