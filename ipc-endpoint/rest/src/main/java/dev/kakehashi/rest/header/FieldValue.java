package dev.kakehashi.rest.header;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/// Part of a structured field (RFC 9651). Immutable.
public sealed interface FieldValue {
  /// A value of its own, as those of parameters.
  sealed interface Bare extends FieldValue {}

  /// @param value up to 15 digits
  record Int(long value) implements Bare {}

  /// @param value up to 12 digits before the point, 3 behind it
  record Decimal(BigDecimal value) implements Bare {}

  /// @param value printable ASCII
  record Text(String value) implements Bare {}

  /// @param value as `gzip` or `text/plain`
  record Token(String value) implements Bare {}

  /// The array is its own; nobody changes it.
  record Bytes(byte[] value) implements Bare {
    @Override
    public boolean equals(Object other) {
      return other instanceof Bytes(byte[] others) && java.util.Arrays.equals(value, others);
    }

    @Override
    public int hashCode() {
      return java.util.Arrays.hashCode(value);
    }
  }

  record Bool(boolean value) implements Bare {}

  /// @param seconds since 1970, UTC
  record Date(long seconds) implements Bare {}

  /// @param value any characters
  record Display(String value) implements Bare {}

  /// @param parameters in the order of the field; values are bare, except where [StructuredField] was asked for more
  record Item(Bare value, Map<String, FieldValue> parameters) implements FieldValue {}

  record InnerList(List<Item> items, Map<String, FieldValue> parameters) implements FieldValue {}
}
