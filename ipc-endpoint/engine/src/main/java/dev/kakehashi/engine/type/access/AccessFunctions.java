package dev.kakehashi.engine.type.access;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.NAME;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.RightsQuestions.About;
import dev.kakehashi.engine.rights.RightsQuestions.Asked;
import dev.kakehashi.engine.rights.RightsQuestions.Membership;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// `has_table_privilege` and its relatives, by names; numbers of objects are nobody's.
public final class AccessFunctions {
  private static final String GRANT_OPTION = " WITH GRANT OPTION";
  private static final String ADMIN_OPTION = " WITH ADMIN OPTION";

  private AccessFunctions() {}

  public static void register(FunctionSet set) {
    register(set, "has_table_privilege", About.TABLE, ObjectKind.TABLE.all());
    register(set, "has_any_column_privilege", About.ANY_COLUMN, ObjectKind.COLUMN.all());
    register(set, "has_sequence_privilege", About.SEQUENCE, ObjectKind.SEQUENCE.all());
    register(set, "has_queue_privilege", About.QUEUE, ObjectKind.QUEUE.all());
    register(set, "has_function_privilege", About.FUNCTION, ObjectKind.FUNCTION.all());
    register(set, "has_schema_privilege", About.SCHEMA, ObjectKind.SCHEMA.all());
    register(set, "has_database_privilege", About.DATABASE, ObjectKind.DATABASE.all());
    register(set, "has_location_privilege", About.LOCATION, ObjectKind.LOCATION.all());
    set.addStable(
        "has_column_privilege",
        BOOL,
        (a, _, c) ->
            word(
                c.rights.has(
                    About.COLUMN,
                    null,
                    Varlena.string(a[0]),
                    Varlena.string(a[1]),
                    () -> privileges(Varlena.string(a[2]), ObjectKind.COLUMN.all()))),
        TEXT,
        TEXT,
        TEXT);
    set.addStable(
        "has_column_privilege",
        BOOL,
        (a, _, c) ->
            word(
                c.rights.has(
                    About.COLUMN,
                    Varlena.string(a[0]),
                    Varlena.string(a[1]),
                    Varlena.string(a[2]),
                    () -> privileges(Varlena.string(a[3]), ObjectKind.COLUMN.all()))),
        NAME,
        TEXT,
        TEXT,
        TEXT);
    set.addStable(
        "pg_has_role",
        BOOL,
        (a, _, c) ->
            word(
                c.rights.hasRole(
                    null, Varlena.string(a[0]), () -> memberships(Varlena.string(a[1])))),
        NAME,
        TEXT);
    set.addStable(
        "pg_has_role",
        BOOL,
        (a, _, c) ->
            word(
                c.rights.hasRole(
                    Varlena.string(a[0]),
                    Varlena.string(a[1]),
                    () -> memberships(Varlena.string(a[2])))),
        NAME,
        NAME,
        TEXT);
  }

  /// @param all privileges that may be asked for
  private static void register(FunctionSet set, String name, About kind, int all) {
    set.addStable(
        name,
        BOOL,
        (a, _, c) ->
            word(
                c.rights.has(
                    kind,
                    null,
                    Varlena.string(a[0]),
                    null,
                    () -> privileges(Varlena.string(a[1]), all))),
        TEXT,
        TEXT);
    set.addStable(
        name,
        BOOL,
        (a, _, c) ->
            word(
                c.rights.has(
                    kind,
                    Varlena.string(a[0]),
                    Varlena.string(a[1]),
                    null,
                    () -> privileges(Varlena.string(a[2]), all))),
        NAME,
        TEXT,
        TEXT);
  }

  private static long word(boolean value) {
    return value ? 1 : 0;
  }

  private static List<Asked> privileges(String list, int all) {
    List<Asked> asked = new ArrayList<>();
    for (String each : list.split(",", -1)) {
      String text = each.strip();
      String upper = text.toUpperCase(Locale.ROOT);
      boolean grantable = upper.endsWith(GRANT_OPTION);
      String word = grantable ? upper.substring(0, upper.length() - GRANT_OPTION.length()) : upper;
      Privilege privilege = Privilege.named(word);
      if (privilege == null || (privilege.bit() & all) == 0) {
        throw unrecognized(text);
      }
      asked.add(new Asked(privilege, grantable));
    }
    return asked;
  }

  private static List<Membership> memberships(String list) {
    List<Membership> asked = new ArrayList<>();
    for (String each : list.split(",", -1)) {
      String text = each.strip();
      String upper = text.toUpperCase(Locale.ROOT);
      boolean admin = upper.endsWith(GRANT_OPTION) || upper.endsWith(ADMIN_OPTION);
      String word = admin ? upper.substring(0, upper.length() - ADMIN_OPTION.length()) : upper;
      if (!word.equals("MEMBER") && !word.equals("USAGE")) {
        throw unrecognized(text);
      }
      asked.add(
          admin ? Membership.ADMIN : word.equals("USAGE") ? Membership.USAGE : Membership.MEMBER);
    }
    return asked;
  }

  private static EngineException unrecognized(String text) {
    return new EngineException(
        ErrorCode.INVALID_PARAMETER_VALUE, "unrecognized privilege type: \"" + text + "\"");
  }
}
