package dev.kakehashi.bulk.option;

import dev.kakehashi.bulk.file.LocationPath;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.NearestWord;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Options of one `COPY`, checked one by one against [CopyOption]. Immutable.
public final class CopyOptions {
  private static final long MAX_BYTES = 1L << 50;

  private final BulkFormat format;
  private final boolean isLoad;
  private final Map<CopyOption, CopyRequest.Option> given;

  private CopyOptions(
      BulkFormat format, boolean isLoad, Map<CopyOption, CopyRequest.Option> given) {
    this.format = format;
    this.isLoad = isLoad;
    this.given = given;
  }

  /// @param name of the file, which says the format if no option does
  /// @throws EngineException SYNTAX_ERROR for an unknown option, FEATURE_NOT_SUPPORTED and INVALID_PARAMETER_VALUE for one that does not
  ///     belong here
  public static CopyOptions of(CopyRequest request, boolean isLoad, String name) {
    Map<CopyOption, CopyRequest.Option> given = new EnumMap<>(CopyOption.class);
    for (CopyRequest.Option option : request.options()) {
      if (given.put(find(option), option) != null) {
        throw new EngineException(ErrorCode.SYNTAX_ERROR, "conflicting or redundant options")
            .withPosition(option.position());
      }
    }
    CopyRequest.Option format = given.get(CopyOption.FORMAT);
    BulkFormat found = format == null ? BulkFormat.ofName(name) : format(format);
    CopyOptions options = new CopyOptions(found, isLoad, given);
    if (isLoad && found == BulkFormat.JSON) {
      throw options.invalid(CopyOption.FORMAT, "COPY FORMAT JSON is not supported for COPY FROM");
    }
    for (CopyOption option : given.keySet()) {
      options.checkPlace(option);
      options.checkKind(option);
    }
    return options;
  }

  private static CopyOption find(CopyRequest.Option option) {
    List<String> keys = new ArrayList<>();
    for (CopyOption each : CopyOption.values()) {
      if (each.key().equals(option.name())) {
        return each;
      }
      keys.add(each.key());
    }
    String nearest = NearestWord.of(option.name(), keys);
    EngineException failure =
        new EngineException(
                ErrorCode.SYNTAX_ERROR, "option \"" + option.name() + "\" not recognized")
            .withPosition(option.position());
    throw nearest == null ? failure : failure.withHint("Perhaps you meant \"" + nearest + "\".");
  }

  private static BulkFormat format(CopyRequest.Option option) {
    String wanted = option.values().size() == 1 ? option.values().getFirst() : "";
    List<String> keys = new ArrayList<>();
    for (BulkFormat each : BulkFormat.values()) {
      if (each.key().equals(wanted.toLowerCase(Locale.ROOT))) {
        return each;
      }
      keys.add(each.key());
    }
    throw new EngineException(
            ErrorCode.INVALID_PARAMETER_VALUE, "COPY format \"" + wanted + "\" not recognized")
        .withHint(NearestWord.hint(wanted, keys))
        .withPosition(option.position());
  }

  private void checkPlace(CopyOption option) {
    String shown = option.key().toUpperCase(Locale.ROOT);
    if (!option.isFor(isLoad)) {
      ErrorCode code =
          option == CopyOption.ON_ERROR || option == CopyOption.REJECT_LIMIT
              ? ErrorCode.INVALID_PARAMETER_VALUE
              : ErrorCode.FEATURE_NOT_SUPPORTED;
      throw new EngineException(
              code,
              "COPY %s cannot be used with %s".formatted(shown, isLoad ? "COPY FROM" : "COPY TO"))
          .withPosition(position(option));
    }
    if (!option.isFor(format)) {
      if (format == BulkFormat.JSON && option.isOfText()) {
        throw new EngineException(
                option == CopyOption.HEADER
                    ? ErrorCode.FEATURE_NOT_SUPPORTED
                    : ErrorCode.SYNTAX_ERROR,
                "cannot specify %s in JSON mode".formatted(shown))
            .withPosition(position(option));
      }
      if (option == CopyOption.FORCE_ARRAY) {
        throw invalid(option, "COPY FORCE_ARRAY can only be used with JSON mode");
      }
      throw notSupported(
          option,
          option.isOfCsv() && !format.isColumnar()
              ? "COPY " + shown + " requires CSV mode"
              : "COPY %s cannot be used with FORMAT %s".formatted(shown, format.key()));
    }
  }

  /// That an option cannot be used so.
  public EngineException notSupported(CopyOption option, String message) {
    return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, message)
        .withPosition(position(option));
  }

  private void checkKind(CopyOption option) {
    switch (option.kind()) {
      case BOOLEAN -> {
        boolean ignored = isOn(option);
      }
      case COUNT -> {
        long ignored = count(option, 0, Long.MAX_VALUE, 0);
      }
      case RATIO -> {
        double ignored = ratio(option);
      }
      case BYTES -> {
        long ignored = bytes(option);
      }
      case WORD -> {
        if (option != CopyOption.HEADER) {
          String ignored = single(option);
        }
      }
      case TEXT -> {
        String ignored = single(option);
      }
      case NAMES -> {
        if (names(option).isEmpty()) {
          throw syntax(option, " requires a parameter");
        }
      }
    }
  }

  public BulkFormat format() {
    return format;
  }

  public boolean isLoad() {
    return isLoad;
  }

  public boolean has(CopyOption option) {
    return given.containsKey(option);
  }

  /// Character in the statement; 0: the option is not there.
  public int position(CopyOption option) {
    CopyRequest.Option found = given.get(option);
    return found == null ? 0 : found.position();
  }

  private String single(CopyOption option) {
    List<String> values = names(option);
    if (values.size() != 1) {
      throw syntax(option, values.isEmpty() ? " requires a parameter" : " takes one value");
    }
    return values.getFirst();
  }

  private EngineException syntax(CopyOption option, String what) {
    return new EngineException(ErrorCode.SYNTAX_ERROR, option.key() + what)
        .withPosition(position(option));
  }

  /// That a value cannot be.
  public EngineException invalid(CopyOption option, String message) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message)
        .withPosition(position(option));
  }

  /// null: the option is not there.
  public @Nullable String text(CopyOption option) {
    return has(option) ? single(option) : null;
  }

  /// Empty: the option is not there.
  public List<String> names(CopyOption option) {
    CopyRequest.Option found = given.get(option);
    return found == null ? List.of() : found.values();
  }

  public boolean isOn(CopyOption option) {
    return isOn(option, false);
  }

  /// @param otherwise if the option is not there
  public boolean isOn(CopyOption option, boolean otherwise) {
    if (!has(option)) {
      return otherwise;
    }
    List<String> values = names(option);
    Boolean value =
        values.isEmpty() ? Boolean.TRUE : values.size() == 1 ? parse(values.getFirst()) : null;
    if (value == null) {
      throw syntax(option, " requires a Boolean value");
    }
    return value;
  }

  /// null: no Boolean.
  static @Nullable Boolean parse(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "on", "1" -> true;
      case "false", "off", "0" -> false;
      default -> null;
    };
  }

  /// A word of a few; the first one if the option is not there.
  public String choice(CopyOption option, String... words) {
    String text = text(option);
    if (text == null) {
      return words[0];
    }
    for (String word : words) {
      if (word.equalsIgnoreCase(text)) {
        return word;
      }
    }
    throw invalid(
            option,
            "COPY %s \"%s\" not recognized".formatted(option.key().toUpperCase(Locale.ROOT), text))
        .withHint(NearestWord.hint(text, List.of(words)));
  }

  /// The treatment of a row that cannot be loaded: `stop`, `ignore` or `set_null`.
  public String onError() {
    return choice(CopyOption.ON_ERROR, "stop", "ignore", "set_null");
  }

  /// A whole number within bounds.
  public long count(CopyOption option, long min, long max, long otherwise) {
    String text = text(option);
    if (text == null) {
      return otherwise;
    }
    long value;
    try {
      value = Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw syntax(option, " requires a numeric value");
    }
    if (value < min || value > max) {
      throw invalid(
          option,
          max == Long.MAX_VALUE
              ? "%s must be at least %d".formatted(option.key(), min)
              : "%s must be between %d and %d".formatted(option.key(), min, max));
    }
    return value;
  }

  /// Not a number: the option is not there.
  public double ratio(CopyOption option) {
    String text = text(option);
    if (text == null) {
      return Double.NaN;
    }
    double value;
    try {
      value = Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw syntax(option, " requires a numeric value");
    }
    if (!(value >= 0 && value <= 1)) {
      throw invalid(option, option.key() + " must be between 0 and 1");
    }
    return value;
  }

  /// 0: the option is not there.
  public long bytes(CopyOption option) {
    String text = text(option);
    if (text == null) {
      return 0;
    }
    String digits = text.replaceFirst("[^0-9].*$", "");
    long factor =
        switch (text.substring(digits.length()).strip().toLowerCase(Locale.ROOT)) {
          case "", "b" -> 1;
          case "kb" -> 1L << 10;
          case "mb" -> 1L << 20;
          case "gb" -> 1L << 30;
          case "tb" -> 1L << 40;
          default -> 0;
        };
    if (digits.isEmpty() || digits.length() > 18 || factor == 0) {
      throw invalid(option, "invalid value for %s: \"%s\"".formatted(option.key(), text))
          .withHint("It is a number of bytes, or one with kB, MB, GB or TB.");
    }
    long value = Long.parseLong(digits);
    if (value < 1 || value > MAX_BYTES / factor) {
      throw invalid(option, option.key() + " is out of range: \"" + text + "\"");
    }
    return value * factor;
  }

  /// A file of a location; null: the option is not there.
  public @Nullable LocationPath location(CopyOption option) {
    String text = text(option);
    if (text == null) {
      return null;
    }
    try {
      return LocationPath.parse(text);
    } catch (EngineException e) {
      throw e.withPosition(position(option));
    }
  }
}
