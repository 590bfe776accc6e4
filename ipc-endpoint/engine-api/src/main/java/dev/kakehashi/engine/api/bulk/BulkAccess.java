package dev.kakehashi.engine.api.bulk;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;

/// Files, as the engine's `COPY` needs them. Thread-safe.
///
/// The requests are checked when a statement is planned, and touch no file; files are opened when it runs.
public interface BulkAccess {
  /// Access of an engine that reads and writes no files.
  BulkAccess NONE =
      new BulkAccess() {
        @Override
        public LoadRequest load(CopyRequest request) {
          throw refused();
        }

        @Override
        public DumpRequest dump(CopyRequest request) {
          throw refused();
        }

        @Override
        public List<InspectedItem> inspect(
            CopyRequest request, BulkUser user, BulkContext context) {
          throw refused();
        }

        @Override
        public byte[] read(String location, BulkUser user, long mostBytes) {
          throw refused();
        }

        @Override
        public UploadFiles uploads() {
          throw refused();
        }

        @Override
        public List<Location> locations() {
          return List.of();
        }

        private EngineException refused() {
          return new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED, "this engine reads and writes no files");
        }
      };

  /// Checks the options of a `COPY … FROM`.
  ///
  /// @throws EngineException SYNTAX_ERROR for an unknown option, with the nearest name as its hint; INVALID_PARAMETER_VALUE;
  ///     UNDEFINED_OBJECT for an unknown location
  LoadRequest load(CopyRequest request);

  /// Checks the options of a `COPY … TO`; errors as for [#load].
  DumpRequest dump(CopyRequest request);

  /// Contents of a file: see [InspectedItem].
  List<InspectedItem> inspect(CopyRequest request, BulkUser user, BulkContext context);

  /// A file as a whole. Blocks.
  ///
  /// @param location as in COPY, of one file
  /// @throws EngineException UNDEFINED_FILE, INSUFFICIENT_PRIVILEGE, UNDEFINED_OBJECT for an unknown location, LIMIT_EXCEEDED beyond
  ///     `mostBytes`
  byte[] read(String location, BulkUser user, long mostBytes);

  /// Files that clients send in pieces before they load them.
  UploadFiles uploads();

  /// Named locations that the settings allow. Their privileges are the engine's.
  List<Location> locations();

  /// A named location.
  ///
  /// @param readable whether the settings let anybody read there
  /// @param writable whether the settings let anybody write there
  record Location(String name, boolean readable, boolean writable) {}
}
