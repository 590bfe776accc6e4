package dev.kakehashi.bulk.file;

import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.NearestWord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// The one class that opens files of locations. The checked file is the open one: each step goes on from a descriptor. Thread-safe.
public final class FileGate {
  /// Most files of one load.
  private static final int MAX_FILES = 100_000;

  private static final Comparator<String> BY_BYTES =
      (left, right) ->
          Arrays.compareUnsigned(
              left.getBytes(StandardCharsets.UTF_8), right.getBytes(StandardCharsets.UTF_8));

  private final Map<String, BulkLocation> locations = new TreeMap<>();
  private final Set<OpenDirectory.Identity> forbidden;

  /// @param forbidden directories that must not be entered, whatever leads there
  FileGate(List<BulkLocation> locations, Set<OpenDirectory.Identity> forbidden) {
    for (BulkLocation location : locations) {
      this.locations.put(location.name(), location);
    }
    this.forbidden = Set.copyOf(forbidden);
  }

  /// All of them, by name.
  public List<BulkLocation> locations() {
    return List.copyOf(locations.values());
  }

  /// @throws EngineException UNDEFINED_OBJECT with the nearest name
  public BulkLocation location(String name) {
    BulkLocation location = locations.get(name);
    if (location != null) {
      return location;
    }
    EngineException failure =
        new EngineException(ErrorCode.UNDEFINED_OBJECT, "location \"" + name + "\" does not exist");
    if (locations.isEmpty()) {
      throw failure.withHint("The setting bulk_locations names no location.");
    }
    throw failure.withHint(NearestWord.hint(name, locations.keySet()));
  }

  /// Checks what the settings and the user's privileges say.
  ///
  /// @throws EngineException INSUFFICIENT_PRIVILEGE
  public BulkLocation toRead(LocationPath path, BulkUser user) {
    BulkLocation location = location(path.location());
    if (!location.readable()) {
      throw denied(location, "is not for reading");
    }
    if (!user.mayRead(location.name())) {
      throw denied(location, null);
    }
    return location;
  }

  /// As [#toRead], for writing.
  public BulkLocation toWrite(LocationPath path, BulkUser user) {
    BulkLocation location = location(path.location());
    if (!location.writable()) {
      throw denied(location, "is not for writing");
    }
    if (!user.mayWrite(location.name())) {
      throw denied(location, null);
    }
    return location;
  }

  private static EngineException denied(
      BulkLocation location, @org.jspecify.annotations.Nullable String why) {
    if (why == null) {
      return new EngineException(
          ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied for location " + location.name());
    }
    return new EngineException(
            ErrorCode.INSUFFICIENT_PRIVILEGE, "location \"" + location.name() + "\" " + why)
        .withHint("The setting bulk_locations says what it is for.");
  }

  /// Opens a file for reading.
  ///
  /// @throws EngineException UNDEFINED_FILE, INSUFFICIENT_PRIVILEGE, WRONG_OBJECT_TYPE, IO_ERROR
  public OpenedFile open(LocationPath path, BulkUser user) {
    BulkLocation location = toRead(path, user);
    try (OpenDirectory directory = directory(location, path.directory())) {
      return directory.file(path.fileName(), path.toString());
    }
  }

  /// Files of a name, which may be a pattern: ordered by name.
  ///
  /// @throws EngineException UNDEFINED_FILE when there is none, INVALID_NAME for a directory
  public List<LocationPath> files(LocationPath path, BulkUser user) {
    BulkLocation location = toRead(path, user);
    if (path.isDirectory()) {
      throw new EngineException(
              ErrorCode.INVALID_NAME, "\"" + path + "\" is a directory, not a file")
          .withHint("Name its files by a pattern, as \"" + path + "*.csv\".");
    }
    if (!path.isPattern()) {
      return List.of(path);
    }
    List<LocationPath> found = new ArrayList<>();
    try (OpenDirectory root = directory(location, List.of())) {
      find(root, path, 0, new LocationPath(path.location(), List.of(), true), found);
    }
    if (found.isEmpty()) {
      throw new EngineException(ErrorCode.UNDEFINED_FILE, "no file matches \"" + path + "\"");
    }
    return found;
  }

  private void find(
      OpenDirectory directory,
      LocationPath path,
      int depth,
      LocationPath base,
      List<LocationPath> found) {
    String name = path.names().get(depth);
    boolean isLast = depth == path.names().size() - 1;
    List<String> names;
    if (NamePattern.isOne(name)) {
      NamePattern pattern = new NamePattern(name);
      names = directory.list();
      names.removeIf(each -> !pattern.matches(each) || TemporaryName.isOne(each));
      names.sort(BY_BYTES);
    } else {
      names = List.of(name);
    }
    for (String each : names) {
      LocationPath child = base.child(each);
      if (isLast) {
        // Directories and what else matches by name is refused when it is opened, not left out
        // silently: but a directory is no file.
        if (!directory.isDirectory(each)) {
          found.add(child);
        }
      } else if (directory.isDirectory(each)) {
        try (OpenDirectory next = directory.child(each)) {
          find(next, path, depth + 1, child, found);
        }
      }
      if (found.size() > MAX_FILES) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, "more than %d files match \"%s\"".formatted(MAX_FILES, path));
      }
    }
  }

  /// Opens a directory of a location.
  OpenDirectory directory(BulkLocation location, List<String> names) {
    return directory(location, names, false);
  }

  /// @param makes directories that are not there
  OpenDirectory directory(BulkLocation location, List<String> names, boolean makes) {
    OpenDirectory directory =
        OpenDirectory.open(location.directory().toString(), location.name() + ":", forbidden);
    for (String name : names) {
      try (OpenDirectory parent = directory) {
        if (makes) {
          parent.make(name);
        }
        directory = parent.child(name);
      }
    }
    return directory;
  }
}
