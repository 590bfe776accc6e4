package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.valuetext.time.Zone;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/// Facts that the program around the engine has told it, and services that statements find there. Thread-safe.
final class EngineSurroundings {
  private volatile Zone timeZone = Zone.UTC;
  private volatile List<ShownSetting> shownSettings = List.of();
  private volatile ShownSetting.Keeper settingsKeeper = ShownSetting.Keeper.NONE;
  private volatile Supplier<List<ClientSession>> clientSessions = List::of;
  private volatile Supplier<long[]> requestTimes = () -> new long[0];
  private volatile BulkAccess bulkAccess = BulkAccess.NONE;
  private volatile BiFunction<String, String, OptionalLong> transactionTokens =
      (user, token) -> OptionalLong.empty();

  private final Supplier<Collection<String>> locationNames = this::namesOfLocations;

  /// Time zone of sessions that begin.
  Zone timeZone() {
    return timeZone;
  }

  void timeZone(Zone zone) {
    timeZone = zone;
  }

  /// Settings of the program that SHOW gives.
  List<ShownSetting> shownSettings() {
    return shownSettings;
  }

  void showSettings(List<ShownSetting> settings) {
    shownSettings = List.copyOf(settings);
  }

  /// Keeper that does what ALTER SYSTEM says.
  ShownSetting.Keeper settingsKeeper() {
    return settingsKeeper;
  }

  void settingsKeeper(ShownSetting.Keeper keeper) {
    settingsKeeper = keeper;
  }

  List<ClientSession> clientSessions() {
    return clientSessions.get();
  }

  void clientSessions(Supplier<List<ClientSession>> sessions) {
    clientSessions = sessions;
  }

  /// Counts of [dev.kakehashi.protocol.RequestTimes].
  long[] requestTimes() {
    return requestTimes.get();
  }

  void requestTimes(Supplier<long[]> times) {
    requestTimes = times;
  }

  /// Access that reads and writes files.
  BulkAccess bulkAccess() {
    return bulkAccess;
  }

  void bulkAccess(BulkAccess access) {
    bulkAccess = access;
  }

  private Collection<String> namesOfLocations() {
    return bulkAccess.locations().stream().map(BulkAccess.Location::name).toList();
  }

  /// Names of the locations that the settings have; the same object always.
  Supplier<Collection<String>> locationNames() {
    return locationNames;
  }

  /// Handle for which the token of a user's transaction stands.
  OptionalLong transactionHandle(String user, String token) {
    return transactionTokens.apply(user, token);
  }

  void transactionTokens(BiFunction<String, String, OptionalLong> references) {
    transactionTokens = references;
  }
}
