package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.thrift.ChunkMeta;
import dev.kakehashi.bulk.parquet.thrift.ChunkStatistics;
import dev.kakehashi.bulk.parquet.thrift.FileMeta;
import dev.kakehashi.bulk.parquet.thrift.FileMeta.GroupMeta;
import dev.kakehashi.bulk.value.ExactTypes;
import dev.kakehashi.bulk.value.FileText;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.FileType.Storage;
import dev.kakehashi.bulk.value.FileValues;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Contents of a file's footer, for people.
public final class ParquetInspection {
  private final String file;
  private final List<InspectedItem> items = new ArrayList<>();

  private ParquetInspection(String file) {
    this.file = file;
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException BAD_COPY_FILE_FORMAT
  public static List<InspectedItem> of(FileInput input, BulkContext context) {
    FooterReader.Footer footer = FooterReader.read(input, context);
    try {
      ParquetInspection inspection = new ParquetInspection(input.name());
      inspection.addAll(footer, input.sizeBytes());
      return inspection.items;
    } finally {
      context.releaseMemory((long) FooterReader.BYTES_PER_BYTE * footer.footerBytes());
    }
  }

  private void add(String kind, String name, String value) {
    items.add(new InspectedItem(file, kind, name, value));
  }

  private void addAll(FooterReader.Footer footer, long bytes) {
    FileMeta meta = footer.meta();
    add(
        "file",
        "",
        "Parquet, %d rows, %d row groups, %d bytes, created by %s"
            .formatted(meta.rows(), meta.groups().size(), bytes, meta.createdBy()));
    List<FileColumn> columns = footer.schema().columns();
    ExactTypes exact = exactTypes(meta, columns);
    for (int i = 0; i < columns.size(); i++) {
      FileColumn column = columns.get(i);
      FileType type = column.type();
      if (type == null) {
        // It is no type, and no part of a proposed definition.
        add("unsupported column", column.name(), column.unsupported());
      } else {
        add(
            "column",
            column.name(),
            exact != null ? exact.columns().get(i).type() : type.sqlName());
      }
    }
    int number = 0;
    for (GroupMeta group : meta.groups()) {
      long compressed = 0;
      Set<String> codecs = new TreeSet<>();
      for (ChunkMeta chunk : group.chunks()) {
        compressed += chunk.compressedBytes();
        codecs.add(codec(chunk.codec()));
      }
      add(
          "row group",
          Integer.toString(number++),
          "%d rows, %d bytes, %s".formatted(group.rows(), compressed, String.join(", ", codecs)));
    }
    for (FileColumn column : footer.schema().columns()) {
      if (column.leaves().size() == 1) {
        addStatistics(column, meta);
      }
    }
  }

  /// Exact types that the file declares, if it declares them for these columns.
  private static @Nullable ExactTypes exactTypes(FileMeta meta, List<FileColumn> columns) {
    String json = meta.keyValues().get(ExactTypes.KEY);
    ExactTypes exact = json == null ? null : ExactTypes.read(json);
    if (exact == null || exact.columns().size() != columns.size()) {
      return null;
    }
    for (int i = 0; i < columns.size(); i++) {
      if (!exact.columns().get(i).name().equals(columns.get(i).name())) {
        return null;
      }
    }
    return exact;
  }

  private static String codec(int number) {
    for (ParquetCodec codec : ParquetCodec.values()) {
      if (codec.number() == number) {
        return codec.name().toLowerCase(java.util.Locale.ROOT);
      }
    }
    return "codec " + number;
  }

  private void addStatistics(FileColumn column, FileMeta meta) {
    for (int i = 0; i < meta.groups().size(); i++) {
      ChunkStatistics statistics =
          meta.groups().get(i).chunks().get(column.firstLeaf()).statistics();
      StringBuilder text = new StringBuilder("row group ").append(i).append(": ");
      byte[] min = statistics.min();
      byte[] max = statistics.max();
      if (min != null && max != null) {
        text.append(value(column, min)).append(statistics.exactMin() ? "" : "…");
        text.append(" to ").append(value(column, max)).append(statistics.exactMax() ? "" : "…");
      } else {
        text.append("no bounds");
      }
      if (statistics.nulls() >= 0) {
        text.append(", ").append(statistics.nulls()).append(" nulls");
      }
      add("statistics", column.name(), text.toString());
    }
  }

  /// A bound as text; one of a wrong length is shown as nothing.
  private static String value(FileColumn column, byte[] plain) {
    FileType type = column.valueType();
    FileValues values = new FileValues(type);
    values.begin(1);
    int width = LeafTypes.width(column.leaves().getFirst());
    if (type.storage() == Storage.BYTES) {
      if (width > 0 && plain.length != width) {
        return "?";
      }
      values.setBytes(plain);
      values.starts()[0] = 0;
      values.lengths()[0] = plain.length;
    } else if (type.storage() == Storage.LONG
        && (plain.length == width || (width == 0 && plain.length == 1))) {
      long word = 0;
      for (int i = plain.length - 1; i >= 0; i--) {
        word = word << 8 | (plain[i] & 0xFF);
      }
      if (width == Integer.BYTES) {
        word = word << Integer.SIZE >> Integer.SIZE;
      }
      if (type.kind() == FileType.Kind.FLOAT && width == Integer.BYTES) {
        word = Double.doubleToRawLongBits(Float.intBitsToFloat((int) word));
      }
      values.longs()[0] = word;
    } else {
      return "?";
    }
    return new String(new FileText().of(values, 0), StandardCharsets.UTF_8);
  }
}
