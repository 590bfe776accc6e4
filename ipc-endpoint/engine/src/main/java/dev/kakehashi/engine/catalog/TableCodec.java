package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.store.api.IndexCondition;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The form of a table's entry in the store's catalogue.
///
/// ```
/// u1 version (12) · utf schema · utf name · i8 tableId
/// i4 columns, each: utf name · i4 oid · i4 modifier · u1 notNull · u1 hasDefault [· utf default]
/// i4 indexes, each: utf name · i8 indexId · u1 unique · u1 primary · i4 keys, each: i4 column · u1 descending
/// since version 2: per index u1 constraint
/// i4 checks, each: utf name · utf text · i4 columns, each: i4 column
/// since version 3: per column i8 sequenceId (0: none) [· utf generated]
/// since version 4: text comment of the table · per column, per index text comment
/// since version 5: i4 foreign keys, each: utf name · i8 constraintId · ints columns · i8 referencedId
///   · ints referencedColumns · utf onUpdate · utf onDelete
///                  · ints setColumns · u1 matchFull
/// since version 6: per foreign key utf timing · u1 validated
/// since version 7: per column text generation · i4 comments on constraints, each: utf name · text comment
/// since version 8: per index utf timing
/// since version 9: per index i4 conditions, each: i4 column · utf operator · i4 bytes (-1: none) · bytes of the value
/// since version 10: text, not utf, for defaults and for checks' texts, which may be longer than 65,535 bytes
/// since version 11: per index u1 nullsNotDistinct · per key u1 nullsFirst · per check u1 validated
/// since version 12: rights of the table · per column acl, see [RightsFields]
///
/// ints: i4 count · i4 each
///
/// text: i4 bytes in UTF-8 (-1: null) · bytes
/// ```
///
/// Versions append fields, see [#FIELDS], or change one's form as 10 does; an entry of a later version is refused.
final class TableCodec {
  private static final int VERSION = 12;

  /// Texts of expressions have had any length since.
  private static final int LONG_TEXTS = 10;

  private TableCodec() {}

  /// A table that is being read. Confined to one thread.
  private static final class Draft {
    final int version;
    String schema = "";
    String name = "";
    long tableId;
    final List<Column> columns = new ArrayList<>();
    final List<Index> indexes = new ArrayList<>();
    final List<CheckConstraint> checks = new ArrayList<>();
    final List<ForeignKey> foreignKeys = new ArrayList<>();
    @Nullable String comment;
    final Map<String, String> constraintComments = new HashMap<>();
    Rights rights = Rights.INITIAL;

    Draft(int version) {
      this.version = version;
    }

    Table table() {
      return new Table(
          schema,
          name,
          tableId,
          List.copyOf(columns),
          List.copyOf(indexes),
          List.copyOf(checks),
          List.copyOf(foreignKeys),
          comment,
          constraintComments,
          rights);
    }
  }

  private interface Write<T> {
    void write(DataOutputStream out, T from) throws IOException;
  }

  private interface Read {
    void read(DataInputStream in, Draft to) throws IOException;
  }

  /// Reads more of a part of a table.
  private interface Amend<T> {
    T amend(DataInputStream in, T part) throws IOException;
  }

  /// Fields that lie side by side.
  ///
  /// @param since the first version that has them
  private record Fields(int since, Write<Table> write, Read read) {
    /// Some fields of each column.
    static Fields ofColumns(int since, Write<Column> write, Amend<Column> amend) {
      return ofEach(since, Table::columns, draft -> draft.columns, write, amend);
    }

    static Fields ofIndexes(int since, Write<Index> write, Amend<Index> amend) {
      return ofEach(since, Table::indexes, draft -> draft.indexes, write, amend);
    }

    static Fields ofChecks(int since, Write<CheckConstraint> write, Amend<CheckConstraint> amend) {
      return ofEach(since, Table::checks, draft -> draft.checks, write, amend);
    }

    static Fields ofForeignKeys(int since, Write<ForeignKey> write, Amend<ForeignKey> amend) {
      return ofEach(since, Table::foreignKeys, draft -> draft.foreignKeys, write, amend);
    }

    private static <T> Fields ofEach(
        int since,
        Function<Table, List<T>> written,
        Function<Draft, List<T>> read,
        Write<T> write,
        Amend<T> amend) {
      return new Fields(
          since,
          (out, table) -> {
            for (T part : written.apply(table)) {
              write.write(out, part);
            }
          },
          (in, draft) -> {
            List<T> parts = read.apply(draft);
            for (int i = 0; i < parts.size(); i++) {
              parts.set(i, amend.amend(in, parts.get(i)));
            }
          });
    }
  }

  /// All fields, in their order.
  private static final List<Fields> FIELDS =
      List.of(
          new Fields(1, TableCodec::writeName, TableCodec::readName),
          new Fields(1, TableCodec::writeColumns, TableCodec::readColumns),
          new Fields(1, TableCodec::writeIndexes, TableCodec::readIndexes),
          Fields.ofIndexes(
              2,
              (out, index) -> out.writeBoolean(index.constraint()),
              (in, index) -> index.asConstraint(in.readBoolean())),
          new Fields(2, TableCodec::writeChecks, TableCodec::readChecks),
          Fields.ofColumns(3, TableCodec::writeSequence, TableCodec::readSequence),
          new Fields(
              4,
              (out, table) -> EntryFields.writeText(out, table.comment()),
              (in, draft) -> draft.comment = EntryFields.readText(in)),
          Fields.ofColumns(
              4,
              (out, column) -> EntryFields.writeText(out, column.comment()),
              (in, column) -> column.withComment(EntryFields.readText(in))),
          Fields.ofIndexes(
              4,
              (out, index) -> EntryFields.writeText(out, index.comment()),
              (in, index) -> index.withComment(EntryFields.readText(in))),
          new Fields(5, TableCodec::writeForeignKeys, TableCodec::readForeignKeys),
          Fields.ofForeignKeys(6, TableCodec::writeTiming, TableCodec::readTiming),
          Fields.ofColumns(
              7,
              (out, column) -> EntryFields.writeText(out, column.generation()),
              (in, column) -> column.withGeneration(EntryFields.readText(in))),
          new Fields(7, TableCodec::writeComments, TableCodec::readComments),
          Fields.ofIndexes(
              8,
              (out, index) -> out.writeUTF(index.timing().name()),
              (in, index) -> index.with(ForeignKey.Timing.valueOf(in.readUTF()))),
          Fields.ofIndexes(
              9,
              (out, index) -> encodePredicate(out, index.predicate()),
              (in, index) -> index.where(decodePredicate(in))),
          Fields.ofIndexes(11, TableCodec::writeNulls, TableCodec::readNulls),
          Fields.ofChecks(
              11,
              (out, check) -> out.writeBoolean(check.validated()),
              (in, check) -> check.withValidated(in.readBoolean())),
          new Fields(
              12,
              (out, table) -> RightsFields.writeRights(out, table.rights()),
              (in, draft) -> draft.rights = RightsFields.readRights(in)),
          Fields.ofColumns(
              12,
              (out, column) -> RightsFields.writeAcl(out, column.acl()),
              (in, column) -> column.withAcl(RightsFields.readAcl(in))));

  static byte[] encode(Table table) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      for (Fields fields : FIELDS) {
        fields.write().write(out, table);
      }
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  /// @throws EngineException DATA_CORRUPTED if the entry cannot be read
  static Table decode(String key, byte[] value) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
      int version = in.readUnsignedByte();
      if (version < 1 || version > VERSION) {
        throw new EngineException(
            ErrorCode.DATA_CORRUPTED,
            "catalogue entry \""
                + key
                + "\" has version "
                + version
                + ", this program reads "
                + VERSION);
      }
      Draft draft = new Draft(version);
      for (Fields fields : FIELDS) {
        if (version >= fields.since()) {
          fields.read().read(in, draft);
        }
      }
      return draft.table();
    } catch (IOException truncated) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED, "catalogue entry \"" + key + "\" is incomplete", truncated);
    }
  }

  private static void writeName(DataOutputStream out, Table table) throws IOException {
    out.writeUTF(table.schema());
    out.writeUTF(table.name());
    out.writeLong(table.tableId());
  }

  private static void readName(DataInputStream in, Draft draft) throws IOException {
    draft.schema = in.readUTF();
    draft.name = in.readUTF();
    draft.tableId = in.readLong();
  }

  private static String readExpression(DataInputStream in, Draft draft) throws IOException {
    return draft.version < LONG_TEXTS ? in.readUTF() : String.valueOf(EntryFields.readText(in));
  }

  // ---- columns ----

  private static void writeColumns(DataOutputStream out, Table table) throws IOException {
    out.writeInt(table.columns().size());
    for (Column column : table.columns()) {
      out.writeUTF(column.name());
      out.writeInt(column.type().oid());
      out.writeInt(column.type().typeModifier());
      out.writeBoolean(column.notNull());
      String defaultText = column.defaultText();
      out.writeBoolean(defaultText != null);
      if (defaultText != null) {
        EntryFields.writeText(out, defaultText);
      }
    }
  }

  private static void readColumns(DataInputStream in, Draft draft) throws IOException {
    for (int left = in.readInt(); left > 0; left--) {
      draft.columns.add(
          new Column(
              in.readUTF(),
              new SqlType(in.readInt(), in.readInt()),
              in.readBoolean(),
              in.readBoolean() ? readExpression(in, draft) : null));
    }
  }

  private static void writeSequence(DataOutputStream out, Column column) throws IOException {
    Column.Owned sequence = column.sequence();
    out.writeLong(sequence == null ? 0 : sequence.sequenceId());
    if (sequence != null) {
      out.writeUTF(sequence.generated().name());
    }
  }

  private static Column readSequence(DataInputStream in, Column column) throws IOException {
    long sequenceId = in.readLong();
    return sequenceId == 0
        ? column
        : column.withSequence(new Column.Owned(sequenceId, Column.Generated.valueOf(in.readUTF())));
  }

  // ---- indexes ----

  private static void writeIndexes(DataOutputStream out, Table table) throws IOException {
    out.writeInt(table.indexes().size());
    for (Index index : table.indexes()) {
      encodeIndex(out, index);
    }
  }

  private static void readIndexes(DataInputStream in, Draft draft) throws IOException {
    for (int left = in.readInt(); left > 0; left--) {
      draft.indexes.add(decodeIndex(in));
    }
  }

  private static void encodeIndex(DataOutputStream out, Index index) throws IOException {
    out.writeUTF(index.name());
    out.writeLong(index.indexId());
    out.writeBoolean(index.unique());
    out.writeBoolean(index.primary());
    out.writeInt(index.columns().size());
    for (int i = 0; i < index.columns().size(); i++) {
      out.writeInt(index.columns().get(i));
      out.writeBoolean(index.descending().get(i));
    }
  }

  private static Index decodeIndex(DataInputStream in) throws IOException {
    String name = in.readUTF();
    long indexId = in.readLong();
    boolean unique = in.readBoolean();
    boolean primary = in.readBoolean();
    int keyCount = in.readInt();
    List<Integer> columns = new ArrayList<>();
    List<Boolean> descending = new ArrayList<>();
    for (int i = 0; i < keyCount; i++) {
      columns.add(in.readInt());
      descending.add(in.readBoolean());
    }
    // Version 1 does not say what a unique index is there for: the names that constraints get do.
    boolean constraint = primary || (unique && name.endsWith("_key"));
    return new Index(
        name,
        indexId,
        List.copyOf(columns),
        List.copyOf(descending),
        unique,
        primary,
        constraint,
        null);
  }

  private static void writeNulls(DataOutputStream out, Index index) throws IOException {
    out.writeBoolean(index.nullsNotDistinct());
    for (boolean first : index.nullsFirst()) {
      out.writeBoolean(first);
    }
  }

  private static Index readNulls(DataInputStream in, Index index) throws IOException {
    boolean notDistinct = in.readBoolean();
    List<Boolean> first = new ArrayList<>();
    for (int left = index.columns().size(); left > 0; left--) {
      first.add(in.readBoolean());
    }
    return index.withNulls(first, notDistinct);
  }

  private static void encodePredicate(DataOutputStream out, List<IndexCondition> predicate)
      throws IOException {
    out.writeInt(predicate.size());
    for (IndexCondition condition : predicate) {
      out.writeInt(condition.column());
      out.writeUTF(condition.operator().name());
      ByteBuffer value = condition.value();
      out.writeInt(value == null ? -1 : value.remaining());
      if (value != null) {
        byte[] bytes = new byte[value.remaining()];
        value.duplicate().get(bytes);
        out.write(bytes);
      }
    }
  }

  private static List<IndexCondition> decodePredicate(DataInputStream in) throws IOException {
    List<IndexCondition> predicate = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      int column = in.readInt();
      IndexCondition.Operator operator = IndexCondition.Operator.valueOf(in.readUTF());
      int bytes = in.readInt();
      predicate.add(
          new IndexCondition(
              column,
              operator,
              bytes < 0 ? null : ByteBuffer.wrap(in.readNBytes(bytes)).asReadOnlyBuffer()));
    }
    return List.copyOf(predicate);
  }

  // ---- constraints ----

  private static void writeChecks(DataOutputStream out, Table table) throws IOException {
    out.writeInt(table.checks().size());
    for (CheckConstraint check : table.checks()) {
      out.writeUTF(check.name());
      EntryFields.writeText(out, check.text());
      EntryFields.writeInts(out, check.columns());
    }
  }

  private static void readChecks(DataInputStream in, Draft draft) throws IOException {
    for (int left = in.readInt(); left > 0; left--) {
      String name = in.readUTF();
      String text = readExpression(in, draft);
      draft.checks.add(new CheckConstraint(name, text, EntryFields.readInts(in)));
    }
  }

  private static void writeForeignKeys(DataOutputStream out, Table table) throws IOException {
    out.writeInt(table.foreignKeys().size());
    for (ForeignKey key : table.foreignKeys()) {
      encodeForeignKey(out, key);
    }
  }

  private static void readForeignKeys(DataInputStream in, Draft draft) throws IOException {
    for (int left = in.readInt(); left > 0; left--) {
      draft.foreignKeys.add(decodeForeignKey(in));
    }
  }

  private static void encodeForeignKey(DataOutputStream out, ForeignKey key) throws IOException {
    out.writeUTF(key.name());
    out.writeLong(key.constraintId());
    EntryFields.writeInts(out, key.columns());
    out.writeLong(key.referencedId());
    EntryFields.writeInts(out, key.referencedColumns());
    out.writeUTF(key.onUpdate().name());
    out.writeUTF(key.onDelete().name());
    EntryFields.writeInts(out, key.setColumns());
    out.writeBoolean(key.matchFull());
  }

  private static ForeignKey decodeForeignKey(DataInputStream in) throws IOException {
    return new ForeignKey(
        in.readUTF(),
        in.readLong(),
        EntryFields.readInts(in),
        in.readLong(),
        EntryFields.readInts(in),
        ForeignKey.Action.valueOf(in.readUTF()),
        ForeignKey.Action.valueOf(in.readUTF()),
        EntryFields.readInts(in),
        in.readBoolean(),
        ForeignKey.Timing.NOT_DEFERRABLE,
        true);
  }

  private static void writeTiming(DataOutputStream out, ForeignKey key) throws IOException {
    out.writeUTF(key.timing().name());
    out.writeBoolean(key.validated());
  }

  private static ForeignKey readTiming(DataInputStream in, ForeignKey key) throws IOException {
    ForeignKey.Timing timing = ForeignKey.Timing.valueOf(in.readUTF());
    return key.with(timing, in.readBoolean());
  }

  private static void writeComments(DataOutputStream out, Table table) throws IOException {
    out.writeInt(table.constraintComments().size());
    for (Map.Entry<String, String> comment : table.constraintComments().entrySet()) {
      out.writeUTF(comment.getKey());
      EntryFields.writeText(out, comment.getValue());
    }
  }

  private static void readComments(DataInputStream in, Draft draft) throws IOException {
    for (int left = in.readInt(); left > 0; left--) {
      String constraint = in.readUTF();
      draft.constraintComments.put(constraint, String.valueOf(EntryFields.readText(in)));
    }
  }
}
