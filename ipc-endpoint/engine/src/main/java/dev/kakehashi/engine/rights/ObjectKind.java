package dev.kakehashi.engine.rights;

import static dev.kakehashi.engine.rights.Privilege.CONNECT;
import static dev.kakehashi.engine.rights.Privilege.CREATE;
import static dev.kakehashi.engine.rights.Privilege.DELETE;
import static dev.kakehashi.engine.rights.Privilege.EXECUTE;
import static dev.kakehashi.engine.rights.Privilege.INSERT;
import static dev.kakehashi.engine.rights.Privilege.READ;
import static dev.kakehashi.engine.rights.Privilege.REFERENCES;
import static dev.kakehashi.engine.rights.Privilege.SELECT;
import static dev.kakehashi.engine.rights.Privilege.TEMPORARY;
import static dev.kakehashi.engine.rights.Privilege.TRIGGER;
import static dev.kakehashi.engine.rights.Privilege.TRUNCATE;
import static dev.kakehashi.engine.rights.Privilege.UPDATE;
import static dev.kakehashi.engine.rights.Privilege.USAGE;
import static dev.kakehashi.engine.rights.Privilege.WRITE;

/// Kinds of objects that privileges are granted on: the one table of their privileges and of their names in messages. Another kind is one
/// more constant.
public enum ObjectKind {
  /// A table or a view.
  TABLE(
      "table",
      "relation",
      Privilege.set(INSERT, SELECT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER),
      0),
  /// A column of a table or of a view.
  COLUMN("column", "column", Privilege.set(INSERT, SELECT, UPDATE, REFERENCES), 0),
  SEQUENCE("sequence", "sequence", Privilege.set(USAGE, SELECT, UPDATE), 0),
  SCHEMA("schema", "schema", Privilege.set(USAGE, CREATE), 0),
  /// The engine's only one.
  DATABASE(
      "database",
      "database",
      Privilege.set(CREATE, TEMPORARY, CONNECT),
      Privilege.set(TEMPORARY, CONNECT)),
  /// A durable queue: INSERT to enqueue, SELECT to see tasks, UPDATE to receive and complete, DELETE to purge, cancel and move.
  QUEUE("queue", "queue", Privilege.set(INSERT, SELECT, UPDATE, DELETE), 0),
  /// Where files of loads and dumps may be.
  LOCATION("location", "location", Privilege.set(READ, WRITE), 0),
  /// A native application: all that it offers.
  APPLICATION("application", "application", Privilege.set(EXECUTE), Privilege.set(EXECUTE)),
  /// A function of an application.
  FUNCTION("function", "function", Privilege.set(EXECUTE), Privilege.set(EXECUTE)),
  /// A procedure of an application.
  PROCEDURE("procedure", "procedure", Privilege.set(EXECUTE), Privilege.set(EXECUTE));

  private final String noun;
  private final String grantNoun;
  private final int all;
  private final int ofEverybody;

  ObjectKind(String noun, String grantNoun, int all, int ofEverybody) {
    this.noun = noun;
    this.grantNoun = grantNoun;
    this.all = all;
    this.ofEverybody = ofEverybody;
  }

  /// Name of such an object in messages.
  public String noun() {
    return noun;
  }

  /// Name of the object in messages about a privilege that its kind does not have.
  public String grantNoun() {
    return grantNoun;
  }

  /// The set of privileges that it has.
  public int all() {
    return all;
  }

  /// Privileges of PUBLIC as long as nothing was granted.
  public int ofEverybody() {
    return ofEverybody;
  }
}
