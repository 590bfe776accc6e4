package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.value.ExactTypes;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;

/// Arrow's IPC file and stream. Both are read, whatever the options say. Types are those of [dev.kakehashi.formats.ArrowField]; the
/// metadata of the schema has the exact ones as [ExactTypes]. Immutable.
public final class ArrowFormat implements FileFormat {
  private final ArrowOptions options;

  public ArrowFormat(ArrowOptions options) {
    this.options = options;
  }

  @Override
  public RowsFile read(
      FileInput file, List<LoadColumn> columns, boolean listed, BulkContext context) {
    return new ArrowRowsFile(ArrowSource.open(file), columns, listed, options, context);
  }

  @Override
  public RowsOutput write(
      FileOutput file, List<LoadColumn> columns, Description description, BulkContext context) {
    return new ArrowRowsOutput(file, columns, description, options, context);
  }

  @Override
  public String suffix() {
    return options.stream() ? ".arrows" : ".arrow";
  }

  @Override
  public boolean hasPieces() {
    return true;
  }

  @Override
  public List<InspectedItem> inspect(FileInput file, BulkContext context) {
    ArrowSource source = ArrowSource.open(file);
    String name = file.name();
    List<InspectedItem> items = new ArrayList<>();
    List<InspectedItem> batches = new ArrayList<>();
    long rows = 0;
    long number = 0;
    long at = source.firstAt();
    while (true) {
      context.checkCanceled();
      if (source.isFile() && number == source.batches().length) {
        break;
      }
      ArrowSource.Read message = source.read(source.isFile() ? source.batches()[(int) number] : at);
      if (message == null) {
        break;
      }
      at = message.end();
      RecordBatch record = recordOf(source, message);
      if (record == null) {
        continue;
      }
      int count = ArrowSource.guarded(file, () -> ArrowBatchReader.rows(record.length()));
      rows += count;
      String text = count + " rows, " + message.bodyBytes() + " bytes";
      batches.add(new InspectedItem(name, "row group", Long.toString(number), text));
      number++;
    }
    items.add(
        new InspectedItem(
            name,
            "file",
            "",
            "Arrow %s, %d rows, %d record batches, %d bytes"
                .formatted(source.isFile() ? "file" : "stream", rows, number, file.sizeBytes())));
    columns(source, items);
    items.addAll(batches);
    return items;
  }

  private static @Nullable RecordBatch recordOf(ArrowSource source, ArrowSource.Read message) {
    return ArrowSource.guarded(
        source.file(),
        () ->
            switch (message.message().headerType()) {
              case MessageHeader.RecordBatch ->
                  ArrowSchemas.required((RecordBatch) message.message().header(new RecordBatch()));
              case MessageHeader.DictionaryBatch -> {
                ArrowSchemas.required(
                    (DictionaryBatch) message.message().header(new DictionaryBatch()));
                yield null;
              }
              default -> throw ArrowSource.bad("has a message that is neither rows nor dictionary");
            });
  }

  private static void columns(ArrowSource source, List<InspectedItem> items) {
    List<ArrowShape> shapes = source.shapes();
    ExactTypes exact = exactTypes(source, shapes);
    for (int i = 0; i < shapes.size(); i++) {
      ArrowShape shape = shapes.get(i);
      FileType type = shape.type();
      items.add(
          type == null
              ? new InspectedItem(
                  source.file().name(), "unsupported column", shape.name(), shape.typeName())
              : new InspectedItem(
                  source.file().name(),
                  "column",
                  shape.name(),
                  exact != null ? exact.columns().get(i).type() : type.sqlName()));
    }
  }

  /// Exact types that the file declares, if it declares them for these columns.
  private static @Nullable ExactTypes exactTypes(ArrowSource source, List<ArrowShape> shapes) {
    String json = source.metadata().get(ExactTypes.KEY);
    ExactTypes exact = json == null ? null : ExactTypes.read(json);
    if (exact == null || exact.columns().size() != shapes.size()) {
      return null;
    }
    for (int i = 0; i < shapes.size(); i++) {
      if (!exact.columns().get(i).name().equals(shapes.get(i).name())) {
        return null;
      }
    }
    return exact;
  }
}
