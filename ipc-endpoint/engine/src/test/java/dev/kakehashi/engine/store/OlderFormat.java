package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.Placement;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.durable.DataDirectory;
import dev.kakehashi.engine.store.durable.DefinitionCodec;
import dev.kakehashi.engine.store.durable.StoreImage;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.SegmentedLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Writes what is in a closed directory as versions did that knew no rows of different widths.
public final class OlderFormat {
  private OlderFormat() {}

  /// @return tables that were written anew: those whose columns lie in their rows in order
  public static int rewrite(Path directory) throws IOException {
    Set<Long> tables = new HashSet<>();
    try (SegmentedLog log =
        SegmentedLog.open(DataDirectory.log(directory), DataDirectory.database(directory))) {
      List<LogRecord> records = new ArrayList<>();
      StoreImage.scanKind(
          log,
          StoreKeys.TABLE,
          (key, value) -> {
            TableDefinition table = decode(StoreImage.bytes(value));
            if (table.placement().equals(Placement.of(table.columns(), true))) {
              tables.add(table.tableId());
              records.add(put(StoreKeys.table(table.tableId()), definition(table)));
            }
          });
      StoreImage.scanKind(
          log,
          StoreKeys.ROW,
          (key, value) -> {
            if (tables.contains(key.getLong(1))) {
              // The row has fewer than 128 columns, so its width is one byte.
              value.get();
              records.add(put(StoreImage.bytes(key.duplicate()), StoreImage.bytes(value)));
            }
          });
      log.write(records);
    }
    Files.writeString(DataDirectory.formatFile(directory), "kakehashi store 2\n");
    return tables.size();
  }

  private static LogRecord put(byte[] key, byte[] value) {
    LogRecord record = new LogRecord(key.length + value.length + 64);
    record.put(key, value);
    return record;
  }

  private static TableDefinition decode(byte[] bytes) {
    try {
      return DefinitionCodec.decode(bytes);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /// In format 1 of definitions.
  static byte[] definition(TableDefinition table) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(1);
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
      throw new IllegalStateException(e);
    }
    return bytes.toByteArray();
  }
}
