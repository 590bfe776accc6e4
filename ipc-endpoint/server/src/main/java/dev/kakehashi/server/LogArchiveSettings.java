package dev.kakehashi.server;

import dev.kakehashi.engine.store.api.ArchiveConfig;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Settings of the archive of the log.
final class LogArchiveSettings {
  private LogArchiveSettings() {}

  /// @return null: there is no archive
  /// @throws SettingsException if the location cannot be one
  static @Nullable ArchiveConfig of(Settings settings) {
    String location = settings.text(Setting.ARCHIVE_LOCATION);
    if (location.isEmpty()) {
      return null;
    }
    return new ArchiveConfig(
        directory(settings, location),
        settings.number(Setting.ARCHIVE_INTERVAL),
        settings.number(Setting.ARCHIVE_BACKLOG));
  }

  /// The directory that a command line or the setting names.
  ///
  /// @param location absolute directory, or name of a location
  /// @throws SettingsException if there is no such location
  static Path directory(Settings settings, String location) {
    Path directory =
        location.startsWith("/") ? Path.of(location).normalize() : named(settings, location);
    Path data = settings.dataDirectory();
    if (directory.startsWith(data) || data.startsWith(directory)) {
      throw new SettingsException(
          "\"%s\" cannot be \"%s\": an archive is not in the data directory, and does not have it in it"
              .formatted(Setting.ARCHIVE_LOCATION.key(), location));
    }
    return directory;
  }

  private static Path named(Settings settings, String name) {
    for (String item : settings.list(Setting.BULK_LOCATIONS)) {
      int first = item.indexOf(':');
      int last = item.lastIndexOf(':');
      if (first < last && item.substring(0, first).equals(name)) {
        if (item.endsWith(":read")) {
          throw new SettingsException(
              "\"%s\" cannot be \"%s\": the location can only be read"
                  .formatted(Setting.ARCHIVE_LOCATION.key(), name));
        }
        return Path.of(item.substring(first + 1, last));
      }
    }
    throw new SettingsException(
        "\"%s\" cannot be \"%s\": it is no absolute directory, and \"%s\" has no such location"
            .formatted(Setting.ARCHIVE_LOCATION.key(), name, Setting.BULK_LOCATIONS.key()));
  }
}
