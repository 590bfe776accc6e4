package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.TableDefinition.IndexDefinition;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Table definitions in the durable image: format version, then the fields in order, as [DataOutputStream] writes them.
/// Column kinds are written by name, so that their order in the source means nothing.
final class DefinitionCodec {
  private static final int FORMAT = 1;

  private DefinitionCodec() {}

  static byte[] encode(TableDefinition table) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(FORMAT);
      out.writeLong(table.tableId());
      out.writeInt(table.columns().size());
      for (int c = 0; c < table.columns().size(); c++) {
        out.writeUTF(table.columns().get(c).name());
        out.writeBoolean(table.notNull().get(c));
      }
      out.writeInt(table.indexes().size());
      for (IndexDefinition index : table.indexes()) {
        out.writeLong(index.indexId());
        out.writeUTF(index.name());
        out.writeBoolean(index.unique());
        out.writeInt(index.columns().size());
        for (int i = 0; i < index.columns().size(); i++) {
          out.writeInt(index.columns().get(i));
          out.writeBoolean(index.descending().get(i));
        }
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("table definition cannot be encoded", e);
    }
    return bytes.toByteArray();
  }

  /// @throws IOException if the bytes are not a definition of a known format
  static TableDefinition decode(byte[] bytes) throws IOException {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int format = in.readByte();
      if (format != FORMAT) {
        throw new IOException("definition has format %d".formatted(format));
      }
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
        indexes.add(index(in));
      }
      return new TableDefinition(
          tableId, List.copyOf(columns), List.copyOf(notNull), List.copyOf(indexes));
    }
  }

  private static IndexDefinition index(DataInputStream in) throws IOException {
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
    return new IndexDefinition(
        indexId, name, List.copyOf(columns), List.copyOf(descending), unique);
  }

  private static ColumnKind kind(String name) throws IOException {
    try {
      return ColumnKind.valueOf(name);
    } catch (IllegalArgumentException e) {
      throw new IOException("unknown kind of column " + name, e);
    }
  }
}
