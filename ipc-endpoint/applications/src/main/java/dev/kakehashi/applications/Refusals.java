package dev.kakehashi.applications;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Locale;

/// Why an application cannot be deployed.
public final class Refusals {
  private Refusals() {}

  /// INVALID_PARAMETER_VALUE with what is wrong and where.
  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency for this alone
  public static EngineException of(String format, Object... arguments) {
    return new EngineException(
        ErrorCode.INVALID_PARAMETER_VALUE, String.format(Locale.ROOT, format, arguments));
  }
}
