package dev.kakehashi.console.html;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Frame around all pages. Stateless.
public final class Frame {
  /// Scripts, styles and requests of this site alone, none within the page; nobody shows the page in a frame.
  public static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
          + "base-uri 'none'; frame-ancestors 'none'";

  /// A page of the menu.
  public record Entry(String path, String title) {}

  private Frame() {}

  private static Html head(String title) {
    return Html.of(
            """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="htmx-config" content="history:false includeIndicatorCSS:false defaultTimeout:10000">
            <title>{} – Kakehashi</title>
            """,
            title)
        .add(
            """
            <link rel="icon" href="{}">
            <link rel="stylesheet" href="{}">
            <link rel="stylesheet" href="{}">
            """,
            Assets.address("icon.svg"),
            Assets.address("uplot-1.6.32.min.css"),
            Assets.address("console.css"))
        .add(
            """
            <script src="{}" defer></script>
            <script src="{}" defer></script>
            <script src="{}" defer></script>
            </head>
            """,
            Assets.address("htmx-4.0.1.min.js"),
            Assets.address("uplot-1.6.32.min.js"),
            Assets.address("console.js"));
  }

  /// A page of a user.
  ///
  /// @param path of the page in the menu
  /// @param csrf field of his forms
  /// @param notice what the last action has done; empty: there was none
  /// @param foot below the page
  public static Html page(
      List<Entry> menu,
      String path,
      String title,
      String user,
      Html csrf,
      String notice,
      Html body,
      Html foot) {
    Html links = new Html();
    for (Entry entry : menu) {
      boolean isThis = entry.path().equals(path);
      links.add(
          isThis
              ? "<li><a href=\"{}\" aria-current=\"page\">{}</a></li>\n"
              : "<li><a href=\"{}\">{}</a></li>\n",
          entry.path(),
          entry.title());
    }
    return head(title)
        .add(
            """
            <body>
            <a class="skip" href="#main">Skip to the page</a>
            <header>
            <a class="brand" href="/console/overview">Kakehashi</a>
            <nav aria-label="Pages"><ul>
            {}</ul></nav>
            <form method="post" action="/console/logout" class="who">{}<span class="name">{}</span> <button>Log out</button></form>
            </header>
            <main id="main" tabindex="-1">
            <h1>{}</h1>
            """,
            links,
            csrf,
            user,
            title)
        .add(
            "{}",
            notice.isEmpty()
                ? null
                : Html.of("<p class=\"notice\" role=\"status\">{}</p>\n", notice))
        .add("{}\n</main>\n<footer>{}</footer>\n</body>\n</html>\n", body, foot);
  }

  /// The page before there is a user.
  ///
  /// @param failure why the last try has failed; null: there was none
  public static Html login(String user, @Nullable String failure) {
    return head("Log in")
        .add(
            """
            <body class="login">
            <main id="main">
            <h1>Kakehashi</h1>
            {}<form method="post" action="/console/login">
            <label for="user">User</label>
            <input id="user" name="user" value="{}" autocomplete="username" required maxlength="63" autofocus>
            <label for="password">Password</label>
            <input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024">
            <button class="main">Log in</button>
            </form>
            </main>
            </body>
            </html>
            """,
            failure == null
                ? null
                : Html.of("<p class=\"failure\" role=\"alert\">{}</p>\n", failure),
            user);
  }
}
