package dev.kakehashi.engine.store.durable;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.IndexCondition;
import dev.kakehashi.engine.store.api.Placement;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Table definitions, and changes of the catalogue by prepared transactions, in the durable image: format version, then the fields in
/// order, as [DataOutputStream] writes them. Column kinds are written by name, so that their order in the source means nothing.
public final class DefinitionCodec {
  /// Since 2 a table says where its columns lie in its rows, since 3 an index which rows it has, since 4 whether
  /// its nulls are equal.
  private static final int FORMAT = 4;

  private static final int FORMAT_WITHOUT_PLACEMENT = 1;
  private static final int FORMAT_WITHOUT_PREDICATE = 2;
  private static final int FORMAT_OF_DISTINCT_NULLS = 3;
  private static final int PUT = 1;
  private static final int REMOVE = 2;
  private static final int CREATE_TABLE = 3;
  private static final int DROP_TABLE = 4;
  private static final int CREATE_INDEX = 5;
  private static final int DROP_INDEX = 6;
  private static final int REDEFINE = 7;
  private static final int FORGET_SEQUENCE = 8;
  private static final int START_SEQUENCE = 9;
  private static final int RESHAPE = 10;

  private DefinitionCodec() {}

  /// Writes something to a stream.
  private interface Writer {
    void write(DataOutputStream out) throws IOException;
  }

  private static byte[] bytes(Writer writer) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(FORMAT);
      writer.write(out);
    } catch (IOException e) {
      throw new IllegalArgumentException("definition cannot be encoded", e);
    }
    return bytes.toByteArray();
  }

  public static byte[] encode(TableDefinition table) {
    return bytes(out -> {
      out.writeLong(table.tableId());
      out.writeInt(table.columns().size());
      for (int c = 0; c < table.columns().size(); c++) {
        out.writeUTF(table.columns().get(c).name());
        out.writeBoolean(table.notNull().get(c));
      }
      out.writeInt(table.indexes().size());
      for (IndexDefinition index : table.indexes()) {
        writeIndex(index, out);
      }
      writePlacement(table.placement(), out);
    });
  }

  private static void writePlacement(Placement placement, DataOutputStream out) throws IOException {
    out.writeBoolean(placement.widthWritten());
    out.writeInt(placement.pageColumns());
    out.writeInt(placement.stored().size());
    for (Placement.Stored stored : placement.stored()) {
      out.writeUTF(stored.kind().name());
      writeValue(stored.missing(), out);
    }
    for (int position : placement.positions()) {
      out.writeInt(position);
    }
  }

  private static Placement placement(DataInputStream in, List<ColumnKind> columns)
      throws IOException {
    boolean widthWritten = in.readBoolean();
    int pageColumns = in.readInt();
    List<Placement.Stored> stored = new ArrayList<>();
    for (int count = in.readInt(); count > 0; count--) {
      ColumnKind kind = kind(in.readUTF());
      stored.add(new Placement.Stored(kind, value(in)));
    }
    List<Integer> positions = new ArrayList<>();
    for (int c = 0; c < columns.size(); c++) {
      int position = in.readInt();
      if (position < 0
          || position >= stored.size()
          || positions.contains(position)
          || stored.get(position).kind() != columns.get(c)) {
        throw new IOException("column %d lies in stored column %d".formatted(c, position));
      }
      positions.add(position);
    }
    return new Placement(widthWritten, pageColumns, List.copyOf(stored), List.copyOf(positions));
  }

  private static void writeIndex(IndexDefinition index, DataOutputStream out) throws IOException {
    out.writeLong(index.indexId());
    out.writeUTF(index.name());
    out.writeBoolean(index.unique());
    out.writeInt(index.columns().size());
    for (int i = 0; i < index.columns().size(); i++) {
      out.writeInt(index.columns().get(i));
      out.writeBoolean(index.descending().get(i));
    }
    out.writeInt(index.predicate().size());
    for (IndexCondition condition : index.predicate()) {
      out.writeInt(condition.column());
      out.writeUTF(condition.operator().name());
      writeValue(condition.value(), out);
    }
    out.writeBoolean(index.nullsNotDistinct());
  }

  private static void writeValue(@Nullable ByteBuffer value, DataOutputStream out)
      throws IOException {
    out.writeBoolean(value != null);
    if (value != null) {
      writeBytes(StoreImage.bytes(value.duplicate()), out);
    }
  }

  private static @Nullable ByteBuffer value(DataInputStream in) throws IOException {
    return in.readBoolean()
        ? ByteBuffer.wrap(in.readNBytes(in.readInt())).asReadOnlyBuffer()
        : null;
  }

  /// A change of the catalogue as part of a prepared transaction: its kind, then its fields.
  public static byte[] encode(CatalogChange change) {
    return bytes(out -> {
      switch (change) {
        case CatalogChange.Put put -> {
          out.writeByte(PUT);
          out.writeUTF(put.key());
          writeBytes(put.value(), out);
        }
        case CatalogChange.Remove remove -> {
          out.writeByte(REMOVE);
          out.writeUTF(remove.key());
        }
        case CatalogChange.CreateTable create -> {
          out.writeByte(CREATE_TABLE);
          writeBytes(encode(create.definition()), out);
        }
        case CatalogChange.DropTable drop -> {
          out.writeByte(DROP_TABLE);
          out.writeLong(drop.tableId());
        }
        case CatalogChange.CreateIndex create -> {
          out.writeByte(CREATE_INDEX);
          out.writeLong(create.tableId());
          writeIndex(create.index(), out);
        }
        case CatalogChange.DropIndex drop -> {
          out.writeByte(DROP_INDEX);
          out.writeLong(drop.tableId());
          out.writeLong(drop.indexId());
        }
        case CatalogChange.ForgetSequence forget -> {
          out.writeByte(FORGET_SEQUENCE);
          out.writeLong(forget.stateId());
        }
        case CatalogChange.StartSequence start -> {
          out.writeByte(START_SEQUENCE);
          out.writeLong(start.stateId());
          out.writeLong(start.first());
        }
        case CatalogChange.Reshape reshape -> {
          out.writeByte(RESHAPE);
          writeBytes(encode(reshape.definition()), out);
        }
        case CatalogChange.Redefine redefine -> {
          out.writeByte(REDEFINE);
          writeBytes(encode(redefine.definition()), out);
        }
      }
    });
  }

  private static void writeBytes(byte[] bytes, DataOutputStream out) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  /// @throws IOException if the bytes are not a change of a known format
  public static CatalogChange decodeChange(byte[] bytes) throws IOException {
    try (DataInputStream in = open(bytes)) {
      int kind = in.readByte();
      return switch (kind) {
        case PUT -> new CatalogChange.Put(in.readUTF(), in.readNBytes(in.readInt()));
        case REMOVE -> new CatalogChange.Remove(in.readUTF());
        case CREATE_TABLE -> new CatalogChange.CreateTable(decode(in.readNBytes(in.readInt())));
        case DROP_TABLE -> new CatalogChange.DropTable(in.readLong());
        case CREATE_INDEX -> new CatalogChange.CreateIndex(in.readLong(), index(in, bytes[0]));
        case DROP_INDEX -> new CatalogChange.DropIndex(in.readLong(), in.readLong());
        case REDEFINE -> new CatalogChange.Redefine(decode(in.readNBytes(in.readInt())));
        case RESHAPE -> new CatalogChange.Reshape(decode(in.readNBytes(in.readInt())), List.of());
        case START_SEQUENCE -> new CatalogChange.StartSequence(in.readLong(), in.readLong());
        case FORGET_SEQUENCE -> new CatalogChange.ForgetSequence(in.readLong());
        default -> throw new IOException("unknown change of the catalogue " + kind);
      };
    }
  }

  private static DataInputStream open(byte[] bytes) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    int format = in.readByte();
    if (format < FORMAT_WITHOUT_PLACEMENT || format > FORMAT) {
      throw new IOException(
          "it has format %d, this version reads %d to %d"
              .formatted(format, FORMAT_WITHOUT_PLACEMENT, FORMAT));
    }
    return in;
  }

  /// @throws IOException if the bytes are not a definition of a known format
  public static TableDefinition decode(byte[] bytes) throws IOException {
    try (DataInputStream in = open(bytes)) {
      long tableId = in.readLong();
      int columnCount = in.readInt();
      List<ColumnKind> columns = new ArrayList<>();
      List<Boolean> notNull = new ArrayList<>();
      for (int c = 0; c < columnCount; c++) {
        columns.add(kind(in.readUTF()));
        notNull.add(in.readBoolean());
      }
      int indexCount = in.readInt();
      List<IndexDefinition> indexes = new ArrayList<>();
      for (int i = 0; i < indexCount; i++) {
        indexes.add(index(in, bytes[0]));
      }
      return new TableDefinition(
          tableId,
          List.copyOf(columns),
          List.copyOf(notNull),
          List.copyOf(indexes),
          bytes[0] == FORMAT_WITHOUT_PLACEMENT
              ? Placement.of(columns, false)
              : placement(in, columns));
    }
  }

  private static IndexDefinition index(DataInputStream in, int format) throws IOException {
    long indexId = in.readLong();
    String name = in.readUTF();
    boolean unique = in.readBoolean();
    int count = in.readInt();
    List<Integer> columns = new ArrayList<>();
    List<Boolean> descending = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      columns.add(in.readInt());
      descending.add(in.readBoolean());
    }
    List<IndexCondition> predicate = new ArrayList<>();
    for (int left = format > FORMAT_WITHOUT_PREDICATE ? in.readInt() : 0; left > 0; left--) {
      int column = in.readInt();
      predicate.add(new IndexCondition(column, operator(in.readUTF()), value(in)));
    }
    return new IndexDefinition(
        indexId,
        name,
        List.copyOf(columns),
        List.copyOf(descending),
        unique,
        format > FORMAT_OF_DISTINCT_NULLS && in.readBoolean(),
        List.copyOf(predicate));
  }

  private static IndexCondition.Operator operator(String name) throws IOException {
    try {
      return IndexCondition.Operator.valueOf(name);
    } catch (IllegalArgumentException e) {
      throw new IOException("unknown condition of an index " + name, e);
    }
  }

  private static ColumnKind kind(String name) throws IOException {
    try {
      return ColumnKind.valueOf(name);
    } catch (IllegalArgumentException e) {
      throw new IOException("unknown kind of column " + name, e);
    }
  }
}
