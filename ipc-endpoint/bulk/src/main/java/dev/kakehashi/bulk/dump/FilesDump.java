package dev.kakehashi.bulk.dump;

import dev.kakehashi.bulk.file.BulkLocation;
import dev.kakehashi.bulk.file.FileGate;
import dev.kakehashi.bulk.file.FilePublication;
import dev.kakehashi.bulk.file.LocationPath;
import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.option.CopyOption;
import dev.kakehashi.bulk.option.CopyOptions;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.DumpRequest;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A checked `COPY … TO`. Immutable.
public final class FilesDump implements DumpRequest {
  private static final int MAX_WORKERS = 1024;
  private static final long MIN_FILE_BYTES = 1 << 10;

  private final FileGate gate;
  private final DumpPlan plan;
  private final FileFormat format;
  private final DumpControl control;

  private FilesDump(FileGate gate, DumpPlan plan, FileFormat format, DumpControl control) {
    this.gate = gate;
    this.plan = plan;
    this.format = format;
    this.control = control;
  }

  /// @param path null: the bytes go to the statement's stream
  /// @throws EngineException INVALID_PARAMETER_VALUE for options that contradict the location, INVALID_NAME for one that cannot be written
  public static FilesDump of(
      FileGate gate, @Nullable LocationPath path, CopyOptions options, FileFormat format) {
    if (path != null) {
      checkPath(path);
    }
    boolean isMany = path != null && path.isDirectory();
    for (CopyOption option : List.of(CopyOption.FILE_SIZE, CopyOption.PARTITION_BY)) {
      if (options.has(option) && !isMany) {
        throw options
            .invalid(option, option.key() + " makes several files, and needs a directory for them")
            .withHint("End the location with /.");
      }
    }
    long fileBytes = options.bytes(CopyOption.FILE_SIZE);
    if (fileBytes != 0 && fileBytes < MIN_FILE_BYTES) {
      throw options.invalid(CopyOption.FILE_SIZE, "file_size must be at least 1kB");
    }
    DumpControl control =
        new DumpControl(
            List.copyOf(options.names(CopyOption.PARTITION_BY)),
            List.copyOf(options.names(CopyOption.ORDER_BY)),
            (int) options.count(CopyOption.WORKERS, 0, MAX_WORKERS, 0));
    DumpPlan plan =
        new DumpPlan(path, fileBytes, control.partitionBy(), options.isOn(CopyOption.OVERWRITE));
    return new FilesDump(gate, plan, format, control);
  }

  private static void checkPath(LocationPath path) {
    if (!path.isNamed()) {
      throw new EngineException(ErrorCode.INVALID_NAME, "\"" + path + "\" cannot be written to")
          .withHint("Dump into a location of the setting bulk_locations, or to STDOUT.");
    }
    if (path.isPattern()) {
      throw new EngineException(
          ErrorCode.INVALID_NAME, "\"" + path + "\" is a pattern, not the name of a file");
    }
  }

  @Override
  public DumpControl control() {
    return control;
  }

  @Override
  public DumpTarget open(
      List<LoadColumn> columns, String query, BulkUser user, BulkContext context, ByteSink stream) {
    FilesTarget.Setup setup = new FilesTarget.Setup(format, columns, query, context);
    LocationPath path = plan.path();
    if (path == null) {
      return new StreamTarget(setup, stream);
    }
    BulkLocation location = gate.toWrite(path, user);
    return new FilesTarget(
        plan, path, setup, FilePublication.begin(gate, location, plan.overwrites(), context));
  }
}
