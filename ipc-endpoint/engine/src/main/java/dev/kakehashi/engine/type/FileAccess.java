package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;

/// Files of loads and dumps, as the role of a statement may use them. Thread-safe.
public interface FileAccess {
  /// Nobody's.
  FileAccess NONE =
      new FileAccess() {
        @Override
        public BulkAccess access() {
          return BulkAccess.NONE;
        }

        @Override
        public BulkUser user() {
          throw refused();
        }

        @Override
        public BulkContext newContext() {
          throw refused();
        }

        @Override
        public CopyRequest request(String location, String options) {
          throw refused();
        }

        private EngineException refused() {
          return new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED, "functions of files cannot be used here");
        }
      };

  BulkAccess access();

  /// The role whose rights count.
  BulkUser user();

  /// The statement as its files see it, with memory for them.
  BulkContext newContext();

  /// A location and options as COPY takes them.
  ///
  /// @param options as in COPY between the parentheses; empty: none
  /// @throws EngineException SYNTAX_ERROR
  CopyRequest request(String location, String options);
}
