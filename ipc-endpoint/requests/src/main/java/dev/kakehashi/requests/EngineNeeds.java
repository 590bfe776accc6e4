package dev.kakehashi.requests;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Needs that requests of any interface have of the engine: checked here, in one place, before the engine is asked. Thread-safe.
///
/// The capabilities are looked at with each request; for an engine that has everything that is all.
final class EngineNeeds {
  /// The first words of a statement, behind blanks and comments.
  private static final Pattern WORDS =
      Pattern.compile(
          "(?:\\s|--[^\\n]*(?:\\n|$)|/\\*(?s:.*?)\\*/)*+([A-Za-z]+)(?:\\s+([A-Za-z]+))?(?:\\s+([A-Za-z]+))?");

  /// The longest beginning that is looked at: nobody writes a longer comment before one of these.
  private static final int LOOKED_AT = 4096;

  private final Engine engine;

  EngineNeeds(Engine engine) {
    this.engine = engine;
  }

  /// @throws EngineException FEATURE_NOT_SUPPORTED, as all of these
  void require(Capability capability) {
    engine.require(capability);
  }

  /// Before a transaction begins.
  void begin(BeginOptions options) {
    if (!engine.capabilities().hasEverything()) {
      engine.require(options);
    }
  }

  /// Before a statement is prepared: what its first words ask for. The rest an engine's own parser knows.
  void statement(String sql) {
    if (engine.capabilities().hasEverything()) {
      return;
    }
    Capability needed = ofWords(sql);
    if (needed != null) {
      require(needed);
    }
  }

  /// Before a statement is executed.
  ///
  /// @param inBlock whether the transaction is one that goes on
  void execution(Statement statement, ExecuteOptions options, boolean inBlock) {
    Capabilities capabilities = engine.capabilities();
    if (capabilities.hasEverything()) {
      return;
    }
    switch (statement.kind()) {
      case QUERY -> {}
      case DML -> require(Capability.CHANGES);
      case DDL -> {
        require(Capability.DDL);
        if (inBlock) {
          require(Capability.DDL_IN_TRANSACTION);
        }
      }
    }
    if (options.command() != 0) {
      require(Capability.COMMANDS);
    }
  }

  static @Nullable Capability ofWords(String sql) {
    Matcher words = WORDS.matcher(sql.substring(0, Math.min(sql.length(), LOOKED_AT)));
    if (!words.lookingAt()) {
      return null;
    }
    String second = upper(words.group(2));
    return switch (upper(words.group(1))) {
      case "COPY" -> Capability.COPY_FILES;
      case "TRUNCATE" -> Capability.TRUNCATE;
      case "GRANT", "REVOKE" -> Capability.ROLES;
      case "SAVEPOINT", "RELEASE" -> Capability.SAVEPOINTS;
      case "PREPARE" -> second.equals("TRANSACTION") ? Capability.TWO_PHASE : null;
      case "COMMIT" -> second.equals("PREPARED") ? Capability.TWO_PHASE : null;
      case "ROLLBACK" ->
          switch (second) {
            case "PREPARED" -> Capability.TWO_PHASE;
            case "TO" -> Capability.SAVEPOINTS;
            default -> null;
          };
      case "SET" -> second.equals("CONSTRAINTS") ? Capability.DEFERRABLE_CONSTRAINTS : null;
      case "CREATE", "ALTER", "DROP" -> ofDefinition(second, upper(words.group(3)));
      default -> null;
    };
  }

  private static Capability ofDefinition(String object, String next) {
    String kind = object.equals("OR") ? "" : object;
    return switch (kind) {
      case "QUEUE" -> Capability.QUEUES;
      case "APPLICATION" -> Capability.APPLICATIONS;
      case "ROLE", "USER", "GROUP" -> next.equals("MAPPING") ? Capability.DDL : Capability.ROLES;
      default -> Capability.DDL;
    };
  }

  private static String upper(@Nullable String word) {
    return word == null ? "" : word.toUpperCase(Locale.ROOT);
  }
}
