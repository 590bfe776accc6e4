package dev.kakehashi.protocol.generator;

import java.util.List;

/// One SBE schema, reduced to what this project's messages use. [SchemaReader] refuses the rest.
///
/// @param version the newest version, to which the emitted encoder writes
record Schema(
    int id, int version, List<EnumType> enums, List<SetType> sets, List<Message> messages) {

  /// Integer types of SBE, with their names in C.
  enum Primitive {
    INT8("int8_t", 1),
    INT16("int16_t", 2),
    INT32("int32_t", 4),
    INT64("int64_t", 8),
    UINT8("uint8_t", 1),
    UINT16("uint16_t", 2),
    UINT32("uint32_t", 4),
    UINT64("uint64_t", 8);

    final String typeInC;
    final int bytes;

    Primitive(String typeInC, int bytes) {
      this.typeInC = typeInC;
      this.bytes = bytes;
    }

    /// Suffix of the accessor in C: `get_u32`, `put_i64`.
    String accessor() {
      return (name().startsWith("U") ? "u" : "i") + 8 * bytes;
    }
  }

  record EnumType(String name, Primitive encoding, List<Value> values) {}

  record Value(String name, long number, String description) {}

  /// @param mask union of all choices
  record SetType(String name, Primitive encoding, List<Value> bits, long mask) {}

  /// @param enumType name of the enumeration that the value must belong to, or empty
  /// @param setType name of the set whose bits it holds, or empty
  record Field(
      String name,
      Primitive primitive,
      int offset,
      int since,
      String enumType,
      String setType,
      String description) {
    int end() {
      return offset + primitive.bytes;
    }
  }

  /// @param utf8 whether the bytes must be valid UTF-8
  /// @param maxBytes longest value
  record Data(String name, int since, boolean utf8, long maxBytes, String description) {}

  record Group(String name, int since, Block block, List<Data> data) {}

  /// Fixed part of a message or of a group's entry.
  ///
  /// @param bytes as the newest version writes it
  record Block(int bytes, List<Field> fields) {
    /// Bytes that a writer of this version must have written at least.
    int bytesOfVersion(int version) {
      return fields.stream()
          .filter(field -> field.since() <= version)
          .mapToInt(Field::end)
          .max()
          .orElse(0);
    }

    /// Whether every field has been there since the first version.
    boolean original() {
      return fields.stream().allMatch(field -> field.since() <= 1);
    }
  }

  record Message(
      String name, int id, String description, Block block, List<Group> groups, List<Data> data) {}
}
