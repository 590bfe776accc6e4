package dev.kakehashi.bulk.load;

import dev.kakehashi.bulk.file.FileGate;
import dev.kakehashi.bulk.file.LocationPath;
import dev.kakehashi.bulk.file.OpenedFile;
import dev.kakehashi.bulk.file.UploadDirectory;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;

/// Finds the files that a load names. Thread-safe.
public final class LoadFiles {
  private final FileGate gate;
  private final UploadDirectory uploads;

  public LoadFiles(FileGate gate, UploadDirectory uploads) {
    this.gate = gate;
    this.uploads = uploads;
  }

  /// @param below names of files or patterns below the path; empty: the path is the file or the pattern
  /// @throws EngineException UNDEFINED_FILE, INSUFFICIENT_PRIVILEGE, ...
  public List<SourceFile> find(LocationPath path, List<String> below, BulkUser user) {
    uploads.sweepIfDue();
    List<SourceFile> found = new ArrayList<>();
    if (!path.isNamed()) {
      if (path.names().size() != 1 || path.isDirectory() || !below.isEmpty()) {
        throw new EngineException(ErrorCode.INVALID_NAME, "\"" + path + "\" cannot be an upload")
            .withHint("It is upload: and the id that began it.");
      }
      found.add(new SentFile(uploads, user.name(), path));
      return found;
    }
    if (below.isEmpty()) {
      add(gate.files(path, user), user, found);
    }
    for (String each : below) {
      add(gate.files(path.resolve(each), user), user, found);
    }
    return found;
  }

  private void add(List<LocationPath> paths, BulkUser user, List<SourceFile> found) {
    for (LocationPath path : paths) {
      found.add(new LocatedFile(gate, user, path));
    }
  }

  /// Removes the stream of a load that has ended.
  void forget(LocationPath path, BulkUser user) {
    if (path.location().equals(LocationPath.STREAM)) {
      try {
        uploads.remove(user.name(), path.fileName());
      } catch (EngineException e) {
        if (e.code() != ErrorCode.UNDEFINED_FILE) {
          throw e;
        }
      }
    }
  }

  private record LocatedFile(FileGate gate, BulkUser user, LocationPath path)
      implements SourceFile {
    @Override
    public String name() {
      return path.toString();
    }

    @Override
    public OpenedFile open() {
      return gate.open(path, user);
    }

    @Override
    public boolean isNamed() {
      return true;
    }
  }

  private record SentFile(UploadDirectory uploads, String owner, LocationPath path)
      implements SourceFile {
    @Override
    public String name() {
      return path.toString();
    }

    @Override
    public OpenedFile open() {
      return uploads.open(owner, path.fileName(), path.toString());
    }

    @Override
    public boolean isNamed() {
      return false;
    }
  }
}
