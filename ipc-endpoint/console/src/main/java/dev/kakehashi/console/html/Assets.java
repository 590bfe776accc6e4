package dev.kakehashi.console.html;

import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.Route;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Style, scripts and picture of the pages, out of the jar. Immutable.
///
/// Their addresses have a digest, so a browser keeps each for good and fetches another one after an update.
public final class Assets {
  private static final ContentType SCRIPT = ContentType.of("text/javascript; charset=utf-8");
  private static final ContentType STYLE = ContentType.of("text/css; charset=utf-8");
  private static final ContentType PICTURE = ContentType.of("image/svg+xml");
  private static final String PATH = "/console/static/";
  private static final int SHOWN_DIGITS = 12;

  private static final Map<String, Asset> ALL = new LinkedHashMap<>();

  static {
    load("console.css", STYLE);
    load("console.js", SCRIPT);
    load("icon.svg", PICTURE);
    load("htmx-4.0.1.min.js", SCRIPT);
    load("uplot-1.6.32.min.js", SCRIPT);
    load("uplot-1.6.32.min.css", STYLE);
  }

  private record Asset(ContentType type, byte[] bytes, String digest) {}

  private Assets() {}

  private static void load(String name, ContentType type) {
    try (InputStream in = Assets.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the jar has no " + name);
      }
      byte[] bytes = in.readAllBytes();
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      ALL.put(
          name,
          new Asset(type, bytes, HexFormat.of().formatHex(digest).substring(0, SHOWN_DIGITS)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /// Where a page finds a file.
  static String address(String name) {
    Asset asset = ALL.get(name);
    if (asset == null) {
      throw new IllegalArgumentException("no file " + name);
    }
    return PATH + name + "?v=" + asset.digest();
  }

  public static Route route() {
    return Route.get(PATH + "{file}")
        .parameters("v")
        .anonymous()
        .handleDirectly((exchange, body) -> send(exchange));
  }

  private static void send(Exchange exchange) {
    @Nullable Asset asset = ALL.get(exchange.request().variable("file"));
    if (asset == null) {
      throw Problem.notFound("there is no such file");
    }
    boolean isThis = asset.digest().equals(exchange.request().parameter("v"));
    exchange
        .answer()
        .header("Cache-Control", isThis ? "public, max-age=31536000, immutable" : "no-cache");
    exchange.answer().send(200, asset.type(), asset.bytes());
  }
}
