package dev.kakehashi.bulk.file;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// A name as `in:day/x.csv`: a location and the names below it. Immutable; what it says was checked, and touches no file.
///
/// @param location `upload` and `stream` are no locations of the settings
/// @param names each is one component of a path: not empty, not `.` or `..`, without `/` and NUL
/// @param isDirectory whether it ends with `/`, or has no names
public record LocationPath(String location, List<String> names, boolean isDirectory) {
  public static final String UPLOAD = "upload";
  public static final String STREAM = "stream";

  /// Form of names of locations.
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

  private static final Pattern URL =
      Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://.*", Pattern.DOTALL);
  private static final int MAX_NAME_BYTES = 255;
  private static final int MAX_BYTES = 4_000;
  private static final int MAX_NAMES = 64;
  private static final String HINT =
      "Files are named by a location of the setting bulk_locations and a path below it, as in:day/file.csv.";

  public LocationPath {
    names = List.copyOf(names);
  }

  /// Whether a text can be the name of a location.
  public static boolean isLocationName(String text) {
    return NAME.matcher(text).matches() && !text.equals(UPLOAD) && !text.equals(STREAM);
  }

  /// @throws EngineException INVALID_NAME with a hint
  public static LocationPath parse(String text) {
    if (URL.matcher(text).matches()) {
      throw invalid(text, "URLs are not read or written");
    }
    if (text.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      throw invalid(text.substring(0, 60) + "…", "it is longer than " + MAX_BYTES + " bytes");
    }
    if (text.startsWith("/")) {
      throw invalid(text, "absolute paths are not allowed");
    }
    int colon = text.indexOf(':');
    if (colon < 0) {
      throw invalid(text, "it names no location");
    }
    String location = text.substring(0, colon);
    if (!NAME.matcher(location).matches()) {
      throw invalid(text, "\"" + location + "\" cannot be the name of a location");
    }
    return below(location, text.substring(colon + 1), text);
  }

  private static LocationPath below(String location, String path, String text) {
    if (path.startsWith("/")) {
      throw invalid(text, "absolute paths are not allowed");
    }
    boolean isDirectory = path.isEmpty() || path.endsWith("/");
    String inner = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    List<String> names = new ArrayList<>();
    if (!inner.isEmpty()) {
      for (String name : inner.split("/", -1)) {
        names.add(checked(name, text));
      }
    }
    if (names.size() > MAX_NAMES) {
      throw invalid(text, "it has more than " + MAX_NAMES + " directories");
    }
    return new LocationPath(location, names, isDirectory);
  }

  private static String checked(String name, String text) {
    if (name.isEmpty()) {
      throw invalid(text, "a directory has no name");
    }
    if (name.equals(".") || name.equals("..")) {
      throw invalid(text, "\"" + name + "\" is not allowed");
    }
    if (name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_BYTES) {
      throw invalid(text, "a name is longer than " + MAX_NAME_BYTES + " bytes");
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c < ' ' || c == 0x7f) {
        throw invalid(text.replaceAll("\\p{Cntrl}", "?"), "it has a control character");
      }
      if (Character.isSurrogate(c) && !StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
        throw invalid(text.replaceAll("\\p{Cs}", "?"), "it is no Unicode text");
      }
    }
    if (TemporaryName.isOne(name)) {
      throw invalid(text, "such names are those of unfinished files");
    }
    return name;
  }

  private static EngineException invalid(String text, String why) {
    return new EngineException(
            ErrorCode.INVALID_NAME, "\"%s\" cannot be a file: %s".formatted(text, why))
        .withHint(HINT);
  }

  /// Whether the settings say where it is.
  public boolean isNamed() {
    return !location.equals(UPLOAD) && !location.equals(STREAM);
  }

  /// Whether a name is a pattern of several.
  public boolean isPattern() {
    return names.stream().anyMatch(NamePattern::isOne);
  }

  /// The last name; empty: it has none.
  public String fileName() {
    return names.isEmpty() ? "" : names.getLast();
  }

  /// The names before the last one, or all of a directory.
  public List<String> directory() {
    return isDirectory || names.isEmpty() ? names : names.subList(0, names.size() - 1);
  }

  /// A file below this directory.
  public LocationPath child(String name) {
    List<String> all = new ArrayList<>(names);
    all.add(name);
    return new LocationPath(location, all, false);
  }

  /// Files of this directory by the path of each.
  ///
  /// @throws EngineException INVALID_NAME
  public LocationPath resolve(String path) {
    String whole = this + (names.isEmpty() || isDirectory ? "" : "/") + path;
    return parse(whole);
  }

  /// As it is written.
  @Override
  public String toString() {
    return location + ":" + String.join("/", names) + (isDirectory && !names.isEmpty() ? "/" : "");
  }
}
