package dev.kakehashi.protocol.generator;

import dev.kakehashi.protocol.generator.Schema.Block;
import dev.kakehashi.protocol.generator.Schema.Data;
import dev.kakehashi.protocol.generator.Schema.EnumType;
import dev.kakehashi.protocol.generator.Schema.Field;
import dev.kakehashi.protocol.generator.Schema.Group;
import dev.kakehashi.protocol.generator.Schema.Message;
import dev.kakehashi.protocol.generator.Schema.Primitive;
import dev.kakehashi.protocol.generator.Schema.SetType;
import dev.kakehashi.protocol.generator.Schema.Value;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import uk.co.real_logic.sbe.ir.GenerationUtil;
import uk.co.real_logic.sbe.ir.Ir;
import uk.co.real_logic.sbe.ir.Signal;
import uk.co.real_logic.sbe.ir.Token;
import uk.co.real_logic.sbe.xml.IrGenerator;
import uk.co.real_logic.sbe.xml.ParserOptions;
import uk.co.real_logic.sbe.xml.XmlSchemaParser;

/// Reads a schema with SBE's own parser and turns its tokens into a [Schema].
///
/// Features that the emitted C does not support (nested groups, composites, arrays, optional and constant fields, floating point) are
/// refused here, by name. So they are not emitted wrongly.
final class SchemaReader {
  private SchemaReader() {}

  /// @throws IOException if the file cannot be read
  /// @throws IllegalArgumentException if SBE finds the schema invalid, or it uses something unsupported
  static Schema read(Path file) throws IOException {
    Ir ir = new IrGenerator().generate(parse(file));
    if (ir.byteOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new IllegalArgumentException(file + ": byte order must be littleEndian");
    }
    List<EnumType> enums = new ArrayList<>();
    List<SetType> sets = new ArrayList<>();
    for (List<Token> type : ir.types()) {
      switch (type.get(0).signal()) {
        case BEGIN_ENUM -> enums.add(enumType(type));
        case BEGIN_SET -> sets.add(setType(type));
        default -> {} // headers and var data, known by their use
      }
    }
    List<Message> messages = new ArrayList<>();
    for (List<Token> tokens : ir.messages()) {
      messages.add(message(tokens));
    }
    // SBE keeps both in hash maps.
    enums.sort(Comparator.comparing(EnumType::name));
    sets.sort(Comparator.comparing(SetType::name));
    messages.sort(Comparator.comparingInt(Message::id));
    return new Schema(ir.id(), ir.version(), enums, sets, messages);
  }

  private static uk.co.real_logic.sbe.xml.MessageSchema parse(Path file) throws IOException {
    // Warnings are about names that are keywords in languages we do not emit.
    ParserOptions options = ParserOptions.builder().stopOnError(true).suppressOutput(true).build();
    try {
      return XmlSchemaParser.parse(new ByteArrayInputStream(Files.readAllBytes(file)), options);
    } catch (IOException failure) {
      throw failure;
    } catch (Exception failure) { // declared so by SBE
      throw new IllegalArgumentException(file + ": " + failure.getMessage(), failure);
    }
  }

  private static EnumType enumType(List<Token> tokens) {
    Token begin = tokens.get(0);
    List<Value> values = new ArrayList<>();
    for (Token token : tokens) {
      if (token.signal() == Signal.VALID_VALUE) {
        long number = token.encoding().constValue().longValue();
        values.add(new Value(token.name(), number, description(token)));
      }
    }
    return new EnumType(begin.applicableTypeName(), primitive(begin), values);
  }

  private static SetType setType(List<Token> tokens) {
    Token begin = tokens.get(0);
    List<Value> bits = new ArrayList<>();
    long mask = 0;
    for (Token token : tokens) {
      if (token.signal() == Signal.CHOICE) {
        long bit = 1L << token.encoding().constValue().longValue();
        bits.add(new Value(token.name(), bit, description(token)));
        mask |= bit;
      }
    }
    return new SetType(begin.applicableTypeName(), primitive(begin), bits, mask);
  }

  private static Message message(List<Token> tokens) {
    Token begin = tokens.get(0);
    List<Token> body = GenerationUtil.getMessageBody(tokens);
    List<Token> fields = new ArrayList<>();
    int at = GenerationUtil.collectFields(body, 0, fields);
    List<Token> groups = new ArrayList<>();
    at = GenerationUtil.collectGroups(body, at, groups);
    List<Token> data = new ArrayList<>();
    GenerationUtil.collectVarData(body, at, data);
    return new Message(
        begin.name(),
        begin.id(),
        description(begin),
        new Block(begin.encodedLength(), fields(begin.name(), fields)),
        groups(begin.name(), groups),
        data(data));
  }

  private static List<Group> groups(String owner, List<Token> tokens) {
    List<Group> groups = new ArrayList<>();
    for (int i = 0; i < tokens.size(); i += tokens.get(i).componentTokenCount()) {
      Token begin = tokens.get(i);
      Token dimensions = tokens.get(i + 1);
      List<Token> body =
          tokens.subList(
              i + 1 + dimensions.componentTokenCount(), i + begin.componentTokenCount() - 1);
      List<Token> fields = new ArrayList<>();
      int at = GenerationUtil.collectFields(body, 0, fields);
      List<Token> nested = new ArrayList<>();
      at = GenerationUtil.collectGroups(body, at, nested);
      if (!nested.isEmpty()) {
        throw unsupported(owner, begin.name(), "a group within a group");
      }
      List<Token> data = new ArrayList<>();
      GenerationUtil.collectVarData(body, at, data);
      groups.add(
          new Group(
              begin.name(),
              since(begin),
              new Block(begin.encodedLength(), fields(begin.name(), fields)),
              data(data)));
    }
    return groups;
  }

  private static List<Field> fields(String owner, List<Token> tokens) {
    List<Field> fields = new ArrayList<>();
    for (int i = 0; i < tokens.size(); i += tokens.get(i).componentTokenCount()) {
      Token field = tokens.get(i);
      Token type = tokens.get(i + 1);
      if (type.isConstantEncoding() || type.isOptionalEncoding()) {
        throw unsupported(owner, field.name(), "a constant or optional field");
      }
      String enumType = "";
      String setType = "";
      switch (type.signal()) {
        case BEGIN_ENUM -> enumType = type.applicableTypeName();
        case BEGIN_SET -> setType = type.applicableTypeName();
        case ENCODING -> {
          if (type.arrayLength() != 1) {
            throw unsupported(owner, field.name(), "an array");
          }
        }
        default -> throw unsupported(owner, field.name(), type.signal().toString());
      }
      fields.add(
          new Field(
              field.name(),
              primitive(type),
              type.offset(),
              since(field),
              enumType,
              setType,
              description(field)));
    }
    return fields;
  }

  private static List<Data> data(List<Token> tokens) {
    List<Data> data = new ArrayList<>();
    for (int i = 0; i < tokens.size(); i += tokens.get(i).componentTokenCount()) {
      Token begin = tokens.get(i);
      Token length = tokens.get(i + 2);
      Token bytes = tokens.get(i + 3);
      if (primitive(length) != Primitive.UINT32) {
        throw unsupported("data", begin.name(), "a length that is not uint32");
      }
      data.add(
          new Data(
              begin.name(),
              since(begin),
              "UTF-8".equals(bytes.encoding().characterEncoding()),
              length.encoding().applicableMaxValue().longValue(),
              description(begin)));
    }
    return data;
  }

  private static Primitive primitive(Token token) {
    return switch (token.encoding().primitiveType()) {
      case INT8 -> Primitive.INT8;
      case INT16 -> Primitive.INT16;
      case INT32 -> Primitive.INT32;
      case INT64 -> Primitive.INT64;
      case UINT8 -> Primitive.UINT8;
      case UINT16 -> Primitive.UINT16;
      case UINT32 -> Primitive.UINT32;
      case UINT64 -> Primitive.UINT64;
      case CHAR, FLOAT, DOUBLE ->
          throw unsupported("type", token.name(), token.encoding().primitiveType().primitiveName());
    };
  }

  /// The first version is 1; SBE reports 0 for what has no `sinceVersion`.
  private static int since(Token token) {
    return Math.max(1, token.version());
  }

  private static String description(Token token) {
    String text = token.description();
    return text == null ? "" : text;
  }

  private static IllegalArgumentException unsupported(String owner, String name, String what) {
    return new IllegalArgumentException(owner + "." + name + ": " + what + " is not supported");
  }
}
