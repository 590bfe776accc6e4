package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.api.IndexCondition;
import dev.kakehashi.engine.type.SequenceDefinition;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The form of a table's entry in the store's catalogue.
///
/// ```
/// u1 version (11) · utf schema · utf name · i8 tableId
/// i4 columns, each: utf name · i4 oid · i4 modifier · u1 notNull · u1 hasDefault [· utf default]
/// i4 indexes, each: utf name · i8 indexId · u1 unique · u1 primary · i4 keys, each: i4 column · u1 descending
/// since version 2: per index u1 constraint
/// i4 checks, each: utf name · utf text · i4 columns, each: i4 column
/// since version 3: per column i8 sequenceId (0: none) [· utf generated]
/// since version 4: text comment of the table · per column, per index text comment
/// since version 5: i4 foreign keys, each: utf name · i8 constraintId · ints columns · i8 referencedId · ints referencedColumns · utf onUpdate · utf onDelete
///                  · ints setColumns · u1 matchFull
/// since version 6: per foreign key utf timing · u1 validated
/// since version 7: per column text generation · i4 comments on constraints, each: utf name · text comment
/// since version 8: per index utf timing
/// since version 9: per index i4 conditions, each: i4 column · utf operator · i4 bytes (-1: none) · bytes of the value
/// since version 10: text, not utf, for defaults and for checks' texts, which may be longer than 65,535 bytes
/// since version 11: per index u1 nullsNotDistinct · per key u1 nullsFirst · per check u1 validated
///
/// ints: i4 count · i4 each
///
/// text: i4 bytes in UTF-8 (-1: null) · bytes
/// ```
///
/// Versions append fields, or change one's form as 10 does; an entry of a later version is refused.
final class CatalogCodec {
  private static final int VERSION = 11;

  private CatalogCodec() {}

  static byte[] encode(Table table) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeUTF(table.schema());
      out.writeUTF(table.name());
      out.writeLong(table.tableId());
      out.writeInt(table.columns().size());
      for (Column column : table.columns()) {
        out.writeUTF(column.name());
        out.writeInt(column.type().oid());
        out.writeInt(column.type().typeModifier());
        out.writeBoolean(column.notNull());
        String defaultText = column.defaultText();
        out.writeBoolean(defaultText != null);
        if (defaultText != null) {
          writeText(out, defaultText);
        }
      }
      out.writeInt(table.indexes().size());
      for (Index index : table.indexes()) {
        encodeIndex(out, index);
      }
      for (Index index : table.indexes()) {
        out.writeBoolean(index.constraint());
      }
      out.writeInt(table.checks().size());
      for (CheckConstraint check : table.checks()) {
        out.writeUTF(check.name());
        writeText(out, check.text());
        writeInts(out, check.columns());
      }
      for (Column column : table.columns()) {
        Column.Owned sequence = column.sequence();
        out.writeLong(sequence == null ? 0 : sequence.sequenceId());
        if (sequence != null) {
          out.writeUTF(sequence.generated().name());
        }
      }
      writeText(out, table.comment());
      for (Column column : table.columns()) {
        writeText(out, column.comment());
      }
      for (Index index : table.indexes()) {
        writeText(out, index.comment());
      }
      out.writeInt(table.foreignKeys().size());
      for (ForeignKey key : table.foreignKeys()) {
        encodeForeignKey(out, key);
      }
      for (ForeignKey key : table.foreignKeys()) {
        out.writeUTF(key.timing().name());
        out.writeBoolean(key.validated());
      }
      for (Column column : table.columns()) {
        writeText(out, column.generation());
      }
      out.writeInt(table.constraintComments().size());
      for (Map.Entry<String, String> comment : table.constraintComments().entrySet()) {
        out.writeUTF(comment.getKey());
        writeText(out, comment.getValue());
      }
      for (Index index : table.indexes()) {
        out.writeUTF(index.timing().name());
      }
      for (Index index : table.indexes()) {
        encodePredicate(out, index.predicate());
      }
      for (Index index : table.indexes()) {
        out.writeBoolean(index.nullsNotDistinct());
        for (boolean first : index.nullsFirst()) {
          out.writeBoolean(first);
        }
      }
      for (CheckConstraint check : table.checks()) {
        out.writeBoolean(check.validated());
      }
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  private static void encodeForeignKey(DataOutputStream out, ForeignKey key) throws IOException {
    out.writeUTF(key.name());
    out.writeLong(key.constraintId());
    writeInts(out, key.columns());
    out.writeLong(key.referencedId());
    writeInts(out, key.referencedColumns());
    out.writeUTF(key.onUpdate().name());
    out.writeUTF(key.onDelete().name());
    writeInts(out, key.setColumns());
    out.writeBoolean(key.matchFull());
  }

  private static ForeignKey decodeForeignKey(DataInputStream in) throws IOException {
    return new ForeignKey(
        in.readUTF(),
        in.readLong(),
        readInts(in),
        in.readLong(),
        readInts(in),
        ForeignKey.Action.valueOf(in.readUTF()),
        ForeignKey.Action.valueOf(in.readUTF()),
        readInts(in),
        in.readBoolean(),
        ForeignKey.Timing.NOT_DEFERRABLE,
        true);
  }

  private static void writeInts(DataOutputStream out, List<Integer> values) throws IOException {
    out.writeInt(values.size());
    for (int value : values) {
      out.writeInt(value);
    }
  }

  private static List<Integer> readInts(DataInputStream in) throws IOException {
    List<Integer> values = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      values.add(in.readInt());
    }
    return List.copyOf(values);
  }

  private static void writeText(DataOutputStream out, @Nullable String text) throws IOException {
    if (text == null) {
      out.writeInt(-1);
      return;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static @Nullable String readText(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length > in.available()) {
      throw new EOFException("text of " + length + " bytes");
    }
    return length < 0 ? null : new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }

  private static String readExpression(DataInputStream in, int version) throws IOException {
    return version < 10 ? in.readUTF() : String.valueOf(readText(in));
  }

  /// A sequence: u1 version (1) · utf schema · utf name · i8 id · i4 type · i8 state, start, increment, min, max, cache · u1 cycles · text comment.
  static byte[] encode(Sequence sequence) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    SequenceDefinition numbers = sequence.definition();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(1);
      out.writeUTF(sequence.schema());
      out.writeUTF(sequence.name());
      out.writeLong(sequence.sequenceId());
      out.writeInt(sequence.typeOid());
      out.writeLong(numbers.stateId());
      out.writeLong(numbers.start());
      out.writeLong(numbers.increment());
      out.writeLong(numbers.min());
      out.writeLong(numbers.max());
      out.writeLong(numbers.cache());
      out.writeBoolean(numbers.cycles());
      writeText(out, sequence.comment());
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  /// A view: u1 version (1) · utf schema · utf name · i8 id · text query · i4 columns, each: utf source · utf name · i4 oid · i4 modifier · text comment; text comment of the view.
  static byte[] encode(View view) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(1);
      out.writeUTF(view.schema());
      out.writeUTF(view.name());
      out.writeLong(view.viewId());
      writeText(out, view.text());
      out.writeInt(view.columns().size());
      for (int i = 0; i < view.columns().size(); i++) {
        Column column = view.columns().get(i);
        out.writeUTF(view.sources().get(i));
        out.writeUTF(column.name());
        out.writeInt(column.type().oid());
        out.writeInt(column.type().typeModifier());
        writeText(out, column.comment());
      }
      writeText(out, view.comment());
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  /// @throws EngineException DATA_CORRUPTED if the entry cannot be read
  static View decodeView(String key, byte[] value) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
      if (in.readUnsignedByte() != 1) {
        throw new IOException("unknown version");
      }
      String schema = in.readUTF();
      String name = in.readUTF();
      long viewId = in.readLong();
      String text = String.valueOf(readText(in));
      List<String> sources = new ArrayList<>();
      List<Column> columns = new ArrayList<>();
      for (int count = in.readInt(); count > 0; count--) {
        sources.add(in.readUTF());
        String column = in.readUTF();
        columns.add(
            new Column(column, new SqlType(in.readInt(), in.readInt()), false, null)
                .withComment(readText(in)));
      }
      return new View(
          schema, name, viewId, text, List.copyOf(sources), List.copyOf(columns), readText(in));
    } catch (IOException truncated) {
      throw unreadable(key, truncated);
    }
  }

  private static EngineException unreadable(String key, IOException reason) {
    return new EngineException(
        ErrorCode.DATA_CORRUPTED,
        "catalogue entry \"" + key + "\" cannot be read: " + reason.getMessage(),
        reason);
  }

  /// @throws EngineException DATA_CORRUPTED if the entry cannot be read
  static Sequence decodeSequence(String key, byte[] value) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
      if (in.readUnsignedByte() != 1) {
        throw new IOException("unknown version");
      }
      String schema = in.readUTF();
      String name = in.readUTF();
      return new Sequence(
          schema,
          name,
          in.readLong(),
          in.readInt(),
          new SequenceDefinition(
              in.readLong(),
              name,
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readBoolean()),
          readText(in));
    } catch (IOException truncated) {
      throw unreadable(key, truncated);
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
      String schema = in.readUTF();
      String name = in.readUTF();
      long tableId = in.readLong();
      int columnCount = in.readInt();
      List<Column> columns = new ArrayList<>();
      for (int i = 0; i < columnCount; i++) {
        columns.add(
            new Column(
                in.readUTF(),
                new SqlType(in.readInt(), in.readInt()),
                in.readBoolean(),
                in.readBoolean() ? readExpression(in, version) : null));
      }
      int indexCount = in.readInt();
      List<Index> indexes = new ArrayList<>();
      for (int i = 0; i < indexCount; i++) {
        indexes.add(decodeIndex(in));
      }
      if (version < 2) {
        return new Table(schema, name, tableId, List.copyOf(columns), List.copyOf(indexes));
      }
      for (int i = 0; i < indexCount; i++) {
        indexes.set(i, indexes.get(i).asConstraint(in.readBoolean()));
      }
      List<CheckConstraint> checks = new ArrayList<>();
      for (int count = in.readInt(); count > 0; count--) {
        String checkName = in.readUTF();
        String text = readExpression(in, version);
        checks.add(new CheckConstraint(checkName, text, readInts(in)));
      }
      for (int i = 0; version >= 3 && i < columnCount; i++) {
        long sequenceId = in.readLong();
        if (sequenceId != 0) {
          Column.Generated generated = Column.Generated.valueOf(in.readUTF());
          columns.set(i, columns.get(i).withSequence(new Column.Owned(sequenceId, generated)));
        }
      }
      String comment = version >= 4 ? readText(in) : null;
      for (int i = 0; version >= 4 && i < columnCount; i++) {
        columns.set(i, columns.get(i).withComment(readText(in)));
      }
      for (int i = 0; version >= 4 && i < indexCount; i++) {
        indexes.set(i, indexes.get(i).withComment(readText(in)));
      }
      List<ForeignKey> foreignKeys = new ArrayList<>();
      for (int left = version >= 5 ? in.readInt() : 0; left > 0; left--) {
        foreignKeys.add(decodeForeignKey(in));
      }
      for (int i = 0; version >= 6 && i < foreignKeys.size(); i++) {
        ForeignKey.Timing timing = ForeignKey.Timing.valueOf(in.readUTF());
        foreignKeys.set(i, foreignKeys.get(i).with(timing, in.readBoolean()));
      }
      for (int i = 0; version >= 7 && i < columnCount; i++) {
        columns.set(i, columns.get(i).withGeneration(readText(in)));
      }
      Map<String, String> constraintComments = new HashMap<>();
      for (int left = version >= 7 ? in.readInt() : 0; left > 0; left--) {
        String constraint = in.readUTF();
        constraintComments.put(constraint, String.valueOf(readText(in)));
      }
      for (int i = 0; version >= 8 && i < indexCount; i++) {
        indexes.set(i, indexes.get(i).with(ForeignKey.Timing.valueOf(in.readUTF())));
      }
      for (int i = 0; version >= 9 && i < indexCount; i++) {
        indexes.set(i, indexes.get(i).where(decodePredicate(in)));
      }
      for (int i = 0; version >= 11 && i < indexCount; i++) {
        boolean notDistinct = in.readBoolean();
        List<Boolean> first = new ArrayList<>();
        for (int left = indexes.get(i).columns().size(); left > 0; left--) {
          first.add(in.readBoolean());
        }
        indexes.set(i, indexes.get(i).withNulls(first, notDistinct));
      }
      for (int i = 0; version >= 11 && i < checks.size(); i++) {
        checks.set(i, checks.get(i).withValidated(in.readBoolean()));
      }
      return new Table(
          schema,
          name,
          tableId,
          List.copyOf(columns),
          List.copyOf(indexes),
          List.copyOf(checks),
          List.copyOf(foreignKeys),
          comment,
          constraintComments);
    } catch (IOException truncated) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED, "catalogue entry \"" + key + "\" is incomplete", truncated);
    }
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
}
