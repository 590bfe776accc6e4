package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.text.Normalizer;
import java.util.Locale;

/// normalize() and IS NORMALIZED, with the Unicode version of the Java platform.
final class Normalization {
  private Normalization() {}

  static long normalize(long text, long form, VarHeap heap) {
    return Varlena.of(heap, Normalizer.normalize(Varlena.string(text), form(form)));
  }

  static boolean isNormalized(long text, long form) {
    return Normalizer.isNormalized(Varlena.string(text), form(form));
  }

  private static Normalizer.Form form(long name) {
    return switch (Varlena.string(name).toUpperCase(Locale.ROOT)) {
      case "NFC" -> Normalizer.Form.NFC;
      case "NFD" -> Normalizer.Form.NFD;
      case "NFKC" -> Normalizer.Form.NFKC;
      case "NFKD" -> Normalizer.Form.NFKD;
      default ->
          throw SqlErrors.invalidParameter("invalid normalization form: " + Varlena.string(name));
    };
  }
}
