package dev.kakehashi.rest.header;

import dev.kakehashi.rest.header.FieldValue.InnerList;
import dev.kakehashi.rest.header.FieldValue.Item;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Parses structured fields as RFC 9651 says, strictly. One use, one thread.
///
/// Lengths are bounded by the header, which is bounded by the listener; nesting by the grammar.
public final class StructuredField {
  private final BareReader in;
  private final boolean listsInParameters;

  private StructuredField(String field, boolean listsInParameters) {
    this.in = new BareReader(field);
    this.listsInParameters = listsInParameters;
  }

  /// @throws FieldException it is no item
  public static Item item(String field) throws FieldException {
    return new StructuredField(field, false).wholeItem();
  }

  /// An item whose parameters may be inner lists, which the RFC does not have.
  ///
  /// @throws FieldException it is none
  public static Item itemWithLists(String field) throws FieldException {
    return new StructuredField(field, true).wholeItem();
  }

  /// @return items and inner lists
  /// @throws FieldException it is no list
  public static List<FieldValue> list(String field) throws FieldException {
    return new StructuredField(field, false).wholeList();
  }

  /// @return items and inner lists by their keys, in the order of the field; a key that comes twice has its last value
  /// @throws FieldException it is no dictionary
  public static Map<String, FieldValue> dictionary(String field) throws FieldException {
    return new StructuredField(field, false).wholeDictionary();
  }

  private Item wholeItem() throws FieldException {
    in.skipSpaces();
    Item item = readItem();
    end();
    return item;
  }

  private List<FieldValue> wholeList() throws FieldException {
    List<FieldValue> members = new ArrayList<>();
    in.skipSpaces();
    while (!in.isAtEnd()) {
      members.add(readMember());
      nextMember();
    }
    return members;
  }

  private Map<String, FieldValue> wholeDictionary() throws FieldException {
    Map<String, FieldValue> members = new LinkedHashMap<>();
    in.skipSpaces();
    while (!in.isAtEnd()) {
      String key = in.key();
      FieldValue member =
          in.skipIf('=') ? readMember() : new Item(new FieldValue.Bool(true), readParameters());
      members.remove(key);
      members.put(key, member);
      nextMember();
    }
    return members;
  }

  /// Behind a member: the end, or a comma and another member.
  private void nextMember() throws FieldException {
    in.skipBlanks();
    if (in.isAtEnd()) {
      return;
    }
    in.expect(',');
    in.skipBlanks();
    if (in.isAtEnd()) {
      throw in.failure("nothing follows the comma");
    }
  }

  private void end() throws FieldException {
    in.skipSpaces();
    if (!in.isAtEnd()) {
      throw in.failure("something follows the item");
    }
  }

  private FieldValue readMember() throws FieldException {
    return in.isAt('(') ? readInnerList() : readItem();
  }

  private Item readItem() throws FieldException {
    FieldValue.Bare value = in.bare();
    return new Item(value, readParameters());
  }

  private InnerList readInnerList() throws FieldException {
    List<Item> items = readItems();
    return new InnerList(items, readParameters());
  }

  private List<Item> readItems() throws FieldException {
    in.expect('(');
    List<Item> items = new ArrayList<>();
    while (true) {
      in.skipSpaces();
      if (in.skipIf(')')) {
        return List.copyOf(items);
      }
      items.add(readItem());
      if (!in.isAt(' ') && !in.isAt(')')) {
        throw in.failure("a space or a closing parenthesis is missing");
      }
    }
  }

  private Map<String, FieldValue> readParameters() throws FieldException {
    if (!in.isAt(';')) {
      return Map.of();
    }
    Map<String, FieldValue> parameters = new LinkedHashMap<>();
    while (in.skipIf(';')) {
      in.skipSpaces();
      String key = in.key();
      FieldValue value = in.skipIf('=') ? readParameter() : new FieldValue.Bool(true);
      parameters.remove(key);
      parameters.put(key, value);
    }
    return parameters;
  }

  private FieldValue readParameter() throws FieldException {
    return listsInParameters && in.isAt('(') ? new InnerList(readItems(), Map.of()) : in.bare();
  }
}
