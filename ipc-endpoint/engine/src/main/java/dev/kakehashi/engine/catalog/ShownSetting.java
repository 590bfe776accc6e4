package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/// A setting as SHOW and `kakehashi_catalog.settings` give it.
///
/// @param value as it would be written in the configuration file
/// @param defaultValue without any configuration
/// @param source where the value comes from, as `default` or `configuration file`
/// @param changeable whether it can change while the endpoint runs
/// @param pending value after a restart; null: the same
/// @param confidential whether it tells of the machine, as paths do: for superusers and members of `pg_read_all_settings`
public record ShownSetting(
    String name,
    String value,
    String description,
    String defaultValue,
    String source,
    boolean changeable,
    @Nullable String pending,
    boolean confidential) {
  /// One that nothing changes.
  public ShownSetting(String name, String value, String description) {
    this(name, value, description, value, "default", false, null, false);
  }

  /// Keeper of the settings of the program that an engine is a part of. Thread-safe.
  @FunctionalInterface
  public interface Keeper {
    /// One that keeps none.
    Keeper NONE =
        (name, value) -> {
          throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "settings of this endpoint cannot be changed by SQL");
        };

    /// Changes what is read with the configuration the next time, durably. May wait for the disk.
    ///
    /// @param name of the setting; null: all that were changed by this
    /// @param value as in the configuration file; null: what it would be without this
    /// @throws EngineException UNDEFINED_OBJECT, INVALID_PARAMETER_VALUE, NOT_IN_PREREQUISITE_STATE for one that is fixed, IO_ERROR
    void change(@Nullable String name, @Nullable String value);
  }
}
