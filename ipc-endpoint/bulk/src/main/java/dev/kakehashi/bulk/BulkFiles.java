package dev.kakehashi.bulk;

import dev.kakehashi.bulk.dump.FilesDump;
import dev.kakehashi.bulk.file.BulkLocation;
import dev.kakehashi.bulk.file.FileGate;
import dev.kakehashi.bulk.file.FilePublication;
import dev.kakehashi.bulk.file.LocationPath;
import dev.kakehashi.bulk.file.OpenedFile;
import dev.kakehashi.bulk.file.UploadDirectory;
import dev.kakehashi.bulk.load.FilesInspection;
import dev.kakehashi.bulk.load.FilesLoad;
import dev.kakehashi.bulk.load.LoadFiles;
import dev.kakehashi.bulk.load.SourceFile;
import dev.kakehashi.bulk.option.CopyOptions;
import dev.kakehashi.bulk.option.FormatMaker;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.DumpRequest;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadRequest;
import dev.kakehashi.engine.api.bulk.UploadFiles;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Files of `COPY` in the locations that the settings name, and those that clients send. Thread-safe; holds nothing open between
/// statements.
public final class BulkFiles implements BulkAccess {
  private static final Logger LOG = LoggerFactory.getLogger(BulkFiles.class);

  private final FileGate gate;
  private final UploadDirectory uploads;
  private final FormatMaker formats;
  private final LoadFiles files;

  /// Takes away what processes that have died have left in locations.
  public BulkFiles(FileGate gate, UploadDirectory uploads, FormatMaker formats) {
    this.gate = gate;
    this.uploads = uploads;
    this.formats = formats;
    files = new LoadFiles(gate, uploads);
    for (BulkLocation location : gate.locations()) {
      if (location.writable()) {
        sweep(location);
      }
    }
  }

  private void sweep(BulkLocation location) {
    try {
      int ignored = FilePublication.sweep(gate, location);
    } catch (EngineException e) {
      // The location cannot be used now; each statement that tries says why.
      LOG.warn("location {} could not be swept: {}", location.name(), e.getMessage());
    }
  }

  @Override
  public LoadRequest load(CopyRequest request) {
    LocationPath path = known(LocationPath.parse(request.location()));
    CopyOptions options = CopyOptions.of(request, true, path.fileName());
    return new FilesLoad(gate, files, path, options, formats.of(options, path.fileName()));
  }

  /// @throws EngineException UNDEFINED_OBJECT when the settings have no such location
  private LocationPath known(LocationPath path) {
    if (path.isNamed()) {
      BulkLocation ignored = gate.location(path.location());
    }
    return path;
  }

  @Override
  public DumpRequest dump(CopyRequest request) {
    LocationPath path =
        request.location().isEmpty() ? null : known(LocationPath.parse(request.location()));
    String name = path == null ? "" : path.fileName();
    CopyOptions options = CopyOptions.of(request, false, name);
    return FilesDump.of(gate, path, options, formats.of(options, name));
  }

  @Override
  public List<InspectedItem> inspect(CopyRequest request, BulkUser user, BulkContext context) {
    LocationPath path = known(LocationPath.parse(request.location()));
    CopyOptions options = CopyOptions.of(request, true, path.fileName());
    return FilesInspection.of(
        files.find(path, List.of(), user),
        formats.of(options, path.fileName()),
        request,
        options,
        context);
  }

  @Override
  public byte[] read(String location, BulkUser user, long mostBytes) {
    LocationPath path = known(LocationPath.parse(location));
    List<SourceFile> found = files.find(path, List.of(), user);
    if (found.size() != 1) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          "\"%s\" names %d files, not one".formatted(location, found.size()));
    }
    try (OpenedFile file = found.getFirst().open()) {
      if (file.sizeBytes() > mostBytes) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED,
            "file \"%s\" has %d bytes, more than the %d that may be read"
                .formatted(file.name(), file.sizeBytes(), mostBytes));
      }
      byte[] bytes = new byte[Math.toIntExact(file.sizeBytes())];
      file.read(0, MemorySegment.ofArray(bytes));
      return bytes;
    }
  }

  @Override
  public UploadFiles uploads() {
    return uploads;
  }

  @Override
  public List<Location> locations() {
    List<Location> found = new ArrayList<>();
    for (BulkLocation each : gate.locations()) {
      found.add(new Location(each.name(), each.readable(), each.writable()));
    }
    return found;
  }

  /// Takes in a stream whole, on the calling thread, for one load from `stream:id`, which removes it. A caller that does not load it
  /// removes it with [UploadFiles#remove].
  ///
  /// @param owner role of the load
  /// @return id
  /// @throws EngineException DISK_FULL, TEMP_SPACE_EXCEEDED
  /// @throws IOException of the stream
  public String stream(String owner, InputStream stream) throws IOException {
    return uploads.take(owner, stream);
  }
}
