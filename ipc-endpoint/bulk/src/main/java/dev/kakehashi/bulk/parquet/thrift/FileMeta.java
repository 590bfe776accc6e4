package dev.kakehashi.bulk.parquet.thrift;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The footer of a file. Immutable.
///
/// @param typeOrders by leaf, whether its statistics are in the order of its type; empty: nothing is said, and their order is not known
public record FileMeta(
    int version,
    List<SchemaNode> schema,
    long rows,
    List<GroupMeta> groups,
    Map<String, String> keyValues,
    String createdBy,
    List<Boolean> typeOrders) {
  /// Most elements of a schema.
  public static final int MAX_SCHEMA_NODES = 20_000;

  private static final int MAX_KEY_VALUES = 1_000;
  private static final int MAX_GROUPS = 1_000_000;

  /// A row group.
  public record GroupMeta(List<ChunkMeta> chunks, long totalBytes, long rows) {}

  /// Reads a footer.
  ///
  /// @throws EngineException BAD_COPY_FILE_FORMAT
  public static FileMeta read(byte[] bytes) {
    CompactReader in = new CompactReader(bytes, 0, bytes.length);
    int version = 0;
    List<SchemaNode> schema = new ArrayList<>();
    long rows = -1;
    List<GroupMeta> groups = new ArrayList<>();
    Map<String, String> keyValues = new HashMap<>();
    String createdBy = "";
    List<Boolean> typeOrders = new ArrayList<>();
    in.begin();
    while (in.next()) {
      switch (in.field()) {
        case 1 -> version = in.i32();
        case 2 -> {
          int count = checked(in.structs(), MAX_SCHEMA_NODES, "columns");
          for (int i = 0; i < count; i++) {
            schema.add(SchemaNode.read(in));
          }
        }
        case 3 -> rows = in.i64();
        case 4 -> {
          int count = checked(in.structs(), MAX_GROUPS, "row groups");
          for (int i = 0; i < count; i++) {
            groups.add(readGroup(in));
          }
        }
        case 5 -> {
          int count = checked(in.structs(), MAX_KEY_VALUES, "entries of metadata");
          for (int i = 0; i < count; i++) {
            readKeyValue(in, keyValues);
          }
        }
        case 6 -> createdBy = in.string();
        case 7 -> {
          int count = checked(in.structs(), MAX_SCHEMA_NODES, "orders of columns");
          for (int i = 0; i < count; i++) {
            typeOrders.add(isTypeOrder(in));
          }
        }
        case 8 -> throw encrypted();
        default -> in.skip();
      }
    }
    if (schema.isEmpty() || rows < 0) {
      throw malformed("lacks its schema or its number of rows");
    }
    return new FileMeta(version, schema, rows, groups, keyValues, createdBy, typeOrders);
  }

  private static boolean isTypeOrder(CompactReader in) {
    boolean found = false;
    in.begin();
    while (in.next()) {
      found |= in.field() == 1;
      in.skip();
    }
    return found;
  }

  private static int checked(int count, int max, String what) {
    if (count > max) {
      throw malformed("has more than " + max + " " + what);
    }
    return count;
  }

  private static GroupMeta readGroup(CompactReader in) {
    List<ChunkMeta> chunks = new ArrayList<>();
    long bytes = 0;
    long rows = -1;
    in.begin();
    while (in.next()) {
      switch (in.field()) {
        case 1 -> {
          int count = checked(in.structs(), MAX_SCHEMA_NODES, "columns");
          for (int i = 0; i < count; i++) {
            chunks.add(ChunkMeta.read(in));
          }
        }
        case 2 -> bytes = in.i64();
        case 3 -> rows = in.i64();
        default -> in.skip();
      }
    }
    if (rows < 0) {
      throw malformed("has a row group without a number of rows");
    }
    return new GroupMeta(chunks, bytes, rows);
  }

  private static void readKeyValue(CompactReader in, Map<String, String> keyValues) {
    String key = "";
    String value = "";
    in.begin();
    while (in.next()) {
      switch (in.field()) {
        case 1 -> key = in.string();
        case 2 -> value = in.string();
        default -> in.skip();
      }
    }
    keyValues.put(key, value);
  }

  static EngineException malformed(String what) {
    return new EngineException(
        ErrorCode.BAD_COPY_FILE_FORMAT, "metadata of the Parquet file " + what);
  }

  static EngineException encrypted() {
    return new EngineException(
        ErrorCode.FEATURE_NOT_SUPPORTED, "encrypted Parquet files are not read");
  }
}
