package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;

/// Opens stores.
public final class StoreFactory {
  private StoreFactory() {}

  /// Opens the store of a data directory and recovers it.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED if the directory is damaged or of a format this version does
  ///     not know, CANNOT_CONNECT if another process has it open, OUT_OF_MEMORY if its rows do not fit
  public static Store open(StoreConfig config) {
    return MemoryStore.open(config);
  }
}
