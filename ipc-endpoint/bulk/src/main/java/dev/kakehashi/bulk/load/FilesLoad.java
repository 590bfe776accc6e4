package dev.kakehashi.bulk.load;

import dev.kakehashi.bulk.file.BulkLocation;
import dev.kakehashi.bulk.file.FileGate;
import dev.kakehashi.bulk.file.FilePublication;
import dev.kakehashi.bulk.file.LocationPath;
import dev.kakehashi.bulk.file.NewFile;
import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.option.CopyOption;
import dev.kakehashi.bulk.option.CopyOptions;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadCondition;
import dev.kakehashi.engine.api.bulk.LoadRequest;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A checked `COPY … FROM`. Immutable.
public final class FilesLoad implements LoadRequest {
  private static final int MAX_WORKERS = 1024;
  private static final int MAX_LOAD_ID = 200;

  private final FileGate gate;
  private final LoadFiles files;
  private final LocationPath path;
  private final FileFormat format;
  private final List<String> below;
  private final LoadControl control;
  private final RejectRules rules;

  /// @throws EngineException INVALID_PARAMETER_VALUE for options that contradict each other
  public FilesLoad(
      FileGate gate, LoadFiles files, LocationPath path, CopyOptions options, FileFormat format) {
    this.gate = gate;
    this.files = files;
    this.path = path;
    this.format = format;
    below = List.copyOf(options.names(CopyOption.FILES));
    String onError = options.onError();
    if (onError.equals("set_null") && !options.format().isText()) {
      throw options.notSupported(
          CopyOption.ON_ERROR,
          "COPY ON_ERROR set_null cannot be used with FORMAT " + options.format().key());
    }
    boolean isTolerant = onError.equals("ignore");
    rules = rules(options, isTolerant);
    control = control(options, isTolerant);
    String ignored = options.choice(CopyOption.LOG_VERBOSITY, "default", "verbose", "silent");
    checkRejectFile(options);
  }

  private static RejectRules rules(CopyOptions options, boolean isTolerant) {
    for (CopyOption option :
        List.of(CopyOption.REJECT_LIMIT, CopyOption.REJECT_RATIO, CopyOption.REJECT_FILE)) {
      if (options.has(option) && !isTolerant) {
        throw options.invalid(
            option,
            "COPY %s requires ON_ERROR to be set to IGNORE"
                .formatted(option.key().toUpperCase(Locale.ROOT)));
      }
    }
    long limit = options.count(CopyOption.REJECT_LIMIT, 0, Long.MAX_VALUE, Long.MAX_VALUE);
    if (limit == 0) {
      throw options.invalid(CopyOption.REJECT_LIMIT, "REJECT_LIMIT (0) must be greater than zero");
    }
    double ratio = options.ratio(CopyOption.REJECT_RATIO);
    return new RejectRules(isTolerant, limit, ratio, options.location(CopyOption.REJECT_FILE));
  }

  private static LoadControl control(CopyOptions options, boolean isTolerant) {
    long batchRows = options.count(CopyOption.BATCH_ROWS, 0, Long.MAX_VALUE, 0);
    int workers = (int) options.count(CopyOption.WORKERS, 0, MAX_WORKERS, 0);
    String loadId = options.text(CopyOption.LOAD_ID);
    if (loadId != null && batchRows == 0) {
      throw options
          .invalid(CopyOption.LOAD_ID, "load_id needs batch_rows")
          .withHint("A load in one transaction has nothing that it could go on with.");
    }
    if (loadId != null && (loadId.isEmpty() || loadId.length() > MAX_LOAD_ID)) {
      throw options.invalid(
          CopyOption.LOAD_ID, "load_id has from 1 to " + MAX_LOAD_ID + " characters");
    }
    boolean preserves = options.isOn(CopyOption.WRITE_PRESERVE, batchRows == 0);
    if (preserves && batchRows > 0) {
      throw options
          .invalid(CopyOption.WRITE_PRESERVE, "write_preserve cannot be used with batch_rows")
          .withHint("Batches are short transactions.");
    }
    return new LoadControl(isTolerant, batchRows, workers, loadId, preserves);
  }

  private void checkRejectFile(CopyOptions options) {
    LocationPath file = rules.file();
    if (file == null) {
      return;
    }
    if (file.isDirectory() || !file.isNamed()) {
      throw options.invalid(
          CopyOption.REJECT_FILE, "reject_file \"" + file + "\" is no file of a location");
    }
    BulkLocation ignored = gate.location(file.location());
  }

  @Override
  public LoadControl control() {
    return control;
  }

  @Override
  public LoadSource open(
      String table,
      List<LoadColumn> columns,
      boolean listed,
      List<LoadCondition> conditions,
      BulkUser user,
      BulkContext context) {
    List<SourceFile> found = files.find(path, below, user);
    FilesSource.Setup setup =
        new FilesSource.Setup(format, table, columns, listed, conditions, context);
    @Nullable FilePublication publication = null;
    @Nullable NewFile rejectFile = null;
    LocationPath rejectPath = rules.file();
    boolean done = false;
    try {
      if (rejectPath != null) {
        BulkLocation location = gate.toWrite(rejectPath, user);
        publication = FilePublication.begin(gate, location, false, context);
        rejectFile = publication.create(rejectPath, false);
      }
      LoadSource source =
          FilesSource.open(
              found, setup, rules, publication, rejectFile, () -> files.forget(path, user));
      done = true;
      return source;
    } finally {
      if (!done && publication != null) {
        publication.close();
      }
    }
  }
}
