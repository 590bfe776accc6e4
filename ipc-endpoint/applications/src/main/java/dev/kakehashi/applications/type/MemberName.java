package dev.kakehashi.applications.type;

import dev.kakehashi.applications.Refusals;
import java.util.regex.Pattern;

/// Names of SQL.
public final class MemberName {
  private static final Pattern NAME = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

  private MemberName() {}

  /// @param what it names, for the message
  public static String checked(String name, String what) {
    if (!NAME.matcher(name).matches()) {
      throw Refusals.of(
          "\"%s\" is no name of a %s: lower case letters, digits and _, at most 63, and no digit first",
          name.length() > 100 ? name.substring(0, 100) : name, what);
    }
    return name;
  }

  /// `unit_price` of `unitPrice`.
  public static String ofComponent(String component) {
    StringBuilder name = new StringBuilder(component.length() + 4);
    for (int i = 0; i < component.length(); i++) {
      char c = component.charAt(i);
      if (Character.isUpperCase(c)) {
        boolean beginsWord =
            i > 0
                && (!Character.isUpperCase(component.charAt(i - 1))
                    || (i + 1 < component.length()
                        && Character.isLowerCase(component.charAt(i + 1))));
        if (beginsWord && name.charAt(name.length() - 1) != '_') {
          name.append('_');
        }
        name.append(Character.toLowerCase(c));
      } else {
        name.append(c);
      }
    }
    return name.toString();
  }
}
