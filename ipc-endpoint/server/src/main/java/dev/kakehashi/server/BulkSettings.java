package dev.kakehashi.server;

import dev.kakehashi.bulk.BulkFiles;
import dev.kakehashi.bulk.file.LocationSettings;
import dev.kakehashi.bulk.file.UploadDirectory;
import dev.kakehashi.bulk.option.FileFormats;
import dev.kakehashi.rest.bulk.SentFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// Settings of the files that `COPY` reads and writes.
final class BulkSettings {
  private static final String UPLOADS = "uploads";

  private final Settings settings;

  BulkSettings(Settings settings) {
    this.settings = settings;
  }

  /// View of the HTTP door on the files.
  SentFiles sent(BulkFiles files) {
    return new SentFiles(
        files.uploads(),
        files::stream,
        Math.min(
            settings.number(Setting.BULK_UPLOAD_SPACE),
            settings.number(Setting.BULK_USER_UPLOAD_SPACE)));
  }

  /// Opens the files. The data directory is this process's own already.
  ///
  /// @throws SettingsException for locations that cannot be
  BulkFiles open() throws IOException {
    Path data = settings.dataDirectory();
    UploadDirectory.Limits limits =
        new UploadDirectory.Limits(
            settings.number(Setting.BULK_UPLOAD_SPACE),
            settings.number(Setting.BULK_USER_UPLOAD_SPACE),
            settings.duration(Setting.BULK_UPLOAD_RETENTION));
    try {
      return new BulkFiles(
          LocationSettings.gate(
              settings.list(Setting.BULK_LOCATIONS), List.of(data, settings.runtimeDirectory())),
          new UploadDirectory(data.resolve(UPLOADS), limits, System::currentTimeMillis),
          new FileFormats());
    } catch (IllegalArgumentException e) {
      throw new SettingsException(
          "\"%s\": %s".formatted(Setting.BULK_LOCATIONS.key(), e.getMessage()));
    }
  }
}
