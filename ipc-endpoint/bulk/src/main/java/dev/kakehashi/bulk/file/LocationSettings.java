package dev.kakehashi.bulk.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Reads the setting of locations, `name:directory:read|write|readwrite`, and checks the directories. Stateless.
public final class LocationSettings {
  private LocationSettings() {}

  /// @param items of the setting
  /// @param own directories of the endpoint: no location is one of them, is in one, or has one in it
  /// @throws IllegalArgumentException that says which item is wrong, and why
  public static FileGate gate(List<String> items, List<Path> own) {
    List<BulkLocation> locations = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (String item : items) {
      BulkLocation location = location(item);
      if (!names.add(location.name())) {
        throw new IllegalArgumentException("\"" + location.name() + "\" is there twice");
      }
      for (Path directory : own) {
        refuseOwn(item, location.directory(), directory);
      }
      locations.add(location);
    }
    return new FileGate(locations, identities(locations, own));
  }

  private static BulkLocation location(String item) {
    int first = item.indexOf(':');
    int last = item.lastIndexOf(':');
    if (first < 0 || first == last) {
      throw new IllegalArgumentException(
          "\"" + item + "\" is not of the form name:directory:read, write or readwrite");
    }
    String name = item.substring(0, first);
    String mode = item.substring(last + 1);
    if (!LocationPath.isLocationName(name)) {
      throw new IllegalArgumentException(
          "\""
              + name
              + "\" cannot be the name of a location: it has letters, digits and _, and is not upload or stream");
    }
    boolean isReadable = mode.equals("read") || mode.equals("readwrite");
    boolean isWritable = mode.equals("write") || mode.equals("readwrite");
    if (!isReadable && !isWritable) {
      throw new IllegalArgumentException(
          "\"%s\": it has to end with read, write or readwrite, not \"%s\"".formatted(item, mode));
    }
    Path directory = Path.of(item.substring(first + 1, last));
    if (!directory.isAbsolute()) {
      throw new IllegalArgumentException("\"" + item + "\": the directory has to be absolute");
    }
    return new BulkLocation(name, real(item, directory), isReadable, isWritable);
  }

  private static Path real(String item, Path directory) {
    try {
      Path real = directory.toRealPath();
      if (Files.isDirectory(real)) {
        return real;
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("\"" + item + "\": there is no such directory", e);
    }
    throw new IllegalArgumentException("\"" + item + "\": it is no directory");
  }

  private static void refuseOwn(String item, Path location, Path own) {
    Path real = realAsFarAsItIsThere(own);
    if (location.startsWith(real) || real.startsWith(location)) {
      throw new IllegalArgumentException(
          "\"%s\": \"%s\" is the endpoint's own; a location is no directory of it, not within one, and has none in it"
              .formatted(item, own));
    }
  }

  /// Real path; the parent of a directory that is made later says where the directory will be.
  private static Path realAsFarAsItIsThere(Path path) {
    Path absolute = path.toAbsolutePath().normalize();
    Path there = absolute;
    while (there.getParent() != null && Files.notExists(there)) {
      there = there.getParent();
    }
    try {
      return there.toRealPath().resolve(there.relativize(absolute)).normalize();
    } catch (IOException e) {
      throw new IllegalArgumentException("\"" + path + "\" cannot be looked at", e);
    }
  }

  private static Set<OpenDirectory.Identity> identities(
      List<BulkLocation> locations, List<Path> own) {
    Set<OpenDirectory.Identity> identities = new HashSet<>();
    if (locations.isEmpty()) {
      return identities;
    }
    for (Path directory : own) {
      if (Files.isDirectory(directory)) {
        try (OpenDirectory open =
            OpenDirectory.open(realAsFarAsItIsThere(directory).toString(), "endpoint:", Set.of())) {
          FileStatus status = open.status();
          identities.add(new OpenDirectory.Identity(status.device(), status.inode()));
        }
      }
    }
    return identities;
  }
}
