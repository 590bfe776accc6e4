package dev.kakehashi.engine.type.text;

import static dev.kakehashi.protocol.TypeOid.BYTEA;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.NAME;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/// convert(), convert_from(), convert_to() and length() of bytes: UTF-8, and the encodings with one byte a character.
final class Encodings {
  /// By PostgreSQL's names in lower case without anything but letters and digits.
  private static final Map<String, String> SINGLE_BYTE =
      Map.ofEntries(
          Map.entry("latin1", "ISO-8859-1"),
          Map.entry("iso88591", "ISO-8859-1"),
          Map.entry("latin2", "ISO-8859-2"),
          Map.entry("iso88592", "ISO-8859-2"),
          Map.entry("latin3", "ISO-8859-3"),
          Map.entry("iso88593", "ISO-8859-3"),
          Map.entry("latin4", "ISO-8859-4"),
          Map.entry("iso88594", "ISO-8859-4"),
          Map.entry("latin5", "ISO-8859-9"),
          Map.entry("iso88599", "ISO-8859-9"),
          Map.entry("latin7", "ISO-8859-13"),
          Map.entry("iso885913", "ISO-8859-13"),
          Map.entry("latin9", "ISO-8859-15"),
          Map.entry("iso885915", "ISO-8859-15"),
          Map.entry("win1250", "windows-1250"),
          Map.entry("windows1250", "windows-1250"),
          Map.entry("win1251", "windows-1251"),
          Map.entry("windows1251", "windows-1251"),
          Map.entry("win1252", "windows-1252"),
          Map.entry("windows1252", "windows-1252"),
          Map.entry("koi8r", "KOI8-R"),
          Map.entry("koi8u", "KOI8-U"));

  /// Pairs that PostgreSQL converts without UTF-8 in between.
  private static final Set<Set<String>> DIRECT =
      Set.of(Set.of("KOI8-R", "windows-1251"), Set.of("ISO-8859-2", "windows-1250"));

  private static final Set<String> UTF8 = Set.of("utf8", "unicode");

  private Encodings() {}

  static void register(FunctionSet set) {
    set.add(
        "convert_from",
        TEXT,
        (a, _, c) ->
            Varlena.of(
                c.heap, decoded(Varlena.bytes(a[0]), charset(Varlena.string(a[1]), "source "))),
        BYTEA,
        NAME);
    set.add(
        "convert_to",
        BYTEA,
        (a, _, c) ->
            Varlena.of(
                c.heap,
                encoded(Varlena.string(a[0]), charset(Varlena.string(a[1]), "destination "))),
        TEXT,
        NAME);
    set.add(
        "convert",
        BYTEA,
        (a, _, c) -> {
          Charset source = charset(Varlena.string(a[1]), "source ");
          Charset destination = charset(Varlena.string(a[2]), "destination ");
          return Varlena.of(c.heap, converted(Varlena.bytes(a[0]), source, destination));
        },
        BYTEA,
        NAME,
        NAME);
    set.add(
        "length",
        INT4,
        (a, _, _) -> {
          Charset charset = charset(Varlena.string(a[1]), "");
          byte[] bytes = Varlena.bytes(a[0]);
          if (!charset.equals(StandardCharsets.UTF_8)) {
            checkNoZero(bytes);
            return bytes.length;
          }
          String text = decoded(bytes, charset);
          return text.codePointCount(0, text.length());
        },
        BYTEA,
        NAME);
  }

  private static Charset charset(String name, String which) {
    String key = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
    if (UTF8.contains(key)) {
      return StandardCharsets.UTF_8;
    }
    String known = SINGLE_BYTE.get(key);
    if (known == null) {
      throw SqlErrors.invalidParameter(
          (which.isEmpty() ? "invalid encoding name \"" : "invalid " + which + "encoding name \"")
              + name
              + "\"");
    }
    return Charset.forName(known);
  }

  private static byte[] converted(byte[] bytes, Charset source, Charset destination) {
    boolean utf8 =
        source.equals(StandardCharsets.UTF_8) || destination.equals(StandardCharsets.UTF_8);
    checkNoZero(bytes);
    if (bytes.length == 0 || (source.equals(destination) && !utf8)) {
      return bytes;
    }
    if (!utf8 && !DIRECT.contains(Set.of(source.name(), destination.name()))) {
      throw new EngineException(
          ErrorCode.UNDEFINED_FUNCTION,
          "default conversion function for encoding \""
              + source.name()
              + "\" to \""
              + destination.name()
              + "\" does not exist");
    }
    return encoded(decoded(bytes, source), destination);
  }

  private static String decoded(byte[] bytes, Charset charset) {
    checkNoZero(bytes);
    try {
      return charset.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw charset.equals(StandardCharsets.UTF_8)
          ? new EngineException(
              ErrorCode.CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\"")
          : new EngineException(
              ErrorCode.UNTRANSLATABLE_CHARACTER,
              "a byte in encoding " + charset.name() + " has no equivalent in encoding \"UTF8\"");
    }
  }

  private static byte[] encoded(String text, Charset charset) {
    try {
      ByteBuffer bytes = charset.newEncoder().encode(CharBuffer.wrap(text));
      byte[] result = new byte[bytes.remaining()];
      bytes.get(result);
      return result;
    } catch (CharacterCodingException e) {
      throw new EngineException(
          ErrorCode.UNTRANSLATABLE_CHARACTER,
          "a character in encoding \"UTF8\" has no equivalent in encoding " + charset.name());
    }
  }

  private static void checkNoZero(byte[] bytes) {
    for (byte b : bytes) {
      if (b == 0) {
        throw new EngineException(
            ErrorCode.CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence: 0x00");
      }
    }
  }
}
