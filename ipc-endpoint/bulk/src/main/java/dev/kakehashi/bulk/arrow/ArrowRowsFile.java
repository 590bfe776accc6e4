package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.value.ColumnMatch;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.ValueOptions;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;

/// An Arrow file or stream as rows: each record batch is a part. Thread-safe.
final class ArrowRowsFile implements RowsFile {
  /// Data that the parts share.
  ///
  /// @param sources indices of the file's fields, one for each column of the rows
  /// @param shapes of those
  /// @param columns that they go into
  record Plan(
      ArrowSource source,
      List<Integer> sources,
      List<ArrowShape> shapes,
      List<LoadColumn> columns,
      ValueOptions options,
      BulkContext context) {
    List<FileType> types() {
      return shapes.stream().map(shape -> ArrowSchemas.required(shape.type())).toList();
    }
  }

  private final Plan plan;
  private final ColumnMatch match;
  private final ArrowDictionaries dictionaries;
  private boolean dictionariesRead;
  private int nextBatch;
  private long nextAt;

  /// Whether the stream has ended.
  private boolean ended;

  ArrowRowsFile(
      ArrowSource source,
      List<LoadColumn> columns,
      boolean listed,
      ArrowOptions options,
      BulkContext context) {
    List<ArrowShape> shapes = source.shapes();
    match =
        ColumnMatch.of(
            source.file().name(),
            shapes.stream().map(ArrowShape::name).toList(),
            columns,
            listed,
            options.byPosition(),
            options.refusesExtra());
    List<ArrowShape> loaded = new ArrayList<>();
    List<LoadColumn> targets = new ArrayList<>();
    for (int i = 0; i < match.sources().size(); i++) {
      ArrowShape shape = shapes.get(match.sources().get(i));
      if (shape.type() == null) {
        throw new EngineException(
                ErrorCode.FEATURE_NOT_SUPPORTED,
                "column \"%s\" of the file is of type %s, which cannot be loaded"
                    .formatted(shape.name(), shape.typeName()))
            .withColumn(shape.name());
      }
      loaded.add(shape);
      targets.add(columns.get(match.targets().get(i)));
    }
    plan =
        new Plan(
            source,
            match.sources(),
            loaded,
            targets,
            new ValueOptions(options.truncates()),
            context);
    // Types that cannot be converted are refused before anything is read.
    ArrowRowsPart.checkTypes(plan);
    dictionaries = new ArrowDictionaries(source, loaded, context);
    nextAt = source.firstAt();
  }

  @Override
  public int[] columns() {
    return match.targetArray();
  }

  @Override
  public synchronized @Nullable RowsPart next() {
    plan.context().checkCanceled();
    return plan.source().isFile() ? nextOfFile() : nextOfStream();
  }

  private @Nullable RowsPart nextOfFile() {
    ArrowSource source = plan.source();
    if (!dictionariesRead) {
      dictionariesRead = true;
      for (long at : source.dictionaries()) {
        dictionaries.add(expected(source.read(at), MessageHeader.DictionaryBatch));
      }
    }
    if (nextBatch == source.batches().length) {
      return null;
    }
    long at = source.batches()[nextBatch++];
    return part(expected(source.read(at), MessageHeader.RecordBatch));
  }

  private static ArrowSource.Read expected(ArrowSource.@Nullable Read message, byte kind) {
    if (message == null || message.message().headerType() != kind) {
      throw ArrowSource.bad("has a footer that does not fit its messages");
    }
    return message;
  }

  private @Nullable RowsPart nextOfStream() {
    while (!ended) {
      ArrowSource.Read message = plan.source().read(nextAt);
      if (message == null) {
        ended = true;
        break;
      }
      nextAt = message.end();
      switch (message.message().headerType()) {
        case MessageHeader.DictionaryBatch -> dictionaries.add(message);
        case MessageHeader.RecordBatch -> {
          return part(message);
        }
        default ->
            throw ArrowSource.bad(
                "has a message of kind " + message.message().headerType() + " among its rows");
      }
    }
    return null;
  }

  private RowsPart part(ArrowSource.Read message) {
    RecordBatch record =
        ArrowSource.guarded(
            plan.source().file(),
            () -> ArrowSchemas.required((RecordBatch) message.message().header(new RecordBatch())));
    return new ArrowRowsPart(plan, message, record, dictionaries.current());
  }

  @Override
  public synchronized void close() {
    dictionaries.close();
  }
}
